"""The layouts in which the readers of tensors want them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from microgen.compiler.passes.any_layout import ELEMENTWISE, in_layout, moved
from microgen.compiler.passes.arrangement import Arrangement
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

TRANSFORM = "layout_transform"
CHANGES = (TRANSFORM, "transpose")
_MOST_FACTORS = 6  # axes of the kernel that transposes


@dataclass(frozen=True, slots=True)
class WantedLayout:
    """A layout in which all readers of a tensor want it, and a change of layout that makes it."""

    arranged: Arrangement
    node: Node


@dataclass(frozen=True, slots=True)
class Wanted:
    """``outputs``: tensor -> the layout that its readers want. ``inputs``: the result of a node
    that computes in any layout -> the layout of its data with which it computes ``outputs``."""

    outputs: Mapping[str, WantedLayout]
    inputs: Mapping[str, WantedLayout]

    def data(self, node: Node, graph: Graph) -> str:
        """The only operand of a node of ``inputs`` that is no constant."""
        return _data(node, graph)


def after(arranged: Arrangement, node: Node) -> Arrangement | None:
    """The arrangement after a change of layout or a reshape of a tensor; None if no kernel would
    make it at once."""
    attrs = node.attrs
    if isinstance(attrs, ReshapeAttrs):
        return arranged.reshaped(attrs.shape)
    assert isinstance(attrs, LayoutTransformAttrs | TransposeAttrs)
    return _at_once(arranged.transposed(attrs.axes))


def joined(first: Arrangement, then: Arrangement) -> Arrangement | None:
    """The arrangement by ``first`` and ``then``; None if no kernel would make it at once."""
    return _at_once(first.then(then))


def _at_once(arranged: Arrangement | None) -> Arrangement | None:
    is_small = arranged is not None and len(arranged.coalesced().order) <= _MOST_FACTORS
    return arranged if is_small else None


def sought(graph: Graph) -> set[str]:
    """Tensors that changes of layout read, directly or after nodes that compute in any layout."""
    found: set[str] = set()
    for node in reversed(graph.nodes):
        is_read = node.outputs[0] in found
        is_open = is_read and (isinstance(node.attrs, ReshapeAttrs) or _is_open(node, graph))
        if node.op in CHANGES or is_open:
            found.update(in_layout(node))
    return found


def _is_open(node: Node, graph: Graph) -> bool:
    name = (*node.inputs, *node.outputs)[0 if node.op not in ELEMENTWISE else len(node.inputs)]
    return moved(node, graph, Arrangement.same(graph.types[name].shape)) is not None


def wanted(graph: Graph) -> Wanted:
    """The layouts that readers want in a graph. In one with several targets they are not known."""
    if len({node.place for node in graph.nodes}) > 1:
        return Wanted({}, {})
    uses, votes = graph.uses_of(), dict[str, list[WantedLayout]]()
    outputs, inputs = dict[str, WantedLayout](), dict[str, WantedLayout]()
    for node in reversed(graph.nodes):
        result = node.outputs[0]
        own = _agreed(votes.get(result, ()), uses[result])
        if own is not None and not own.arranged.is_view:
            outputs[result] = own
        name, found = _wish(node, graph, own)
        if found is None:
            continue
        votes.setdefault(name, []).append(found)
        if node.op not in CHANGES and not isinstance(node.attrs, ReshapeAttrs):
            inputs[result] = found
    return Wanted(outputs, inputs)


def _agreed(votes: list[WantedLayout] | tuple[()], readers: int) -> WantedLayout | None:
    """The layout that all readers want."""
    if not votes or len(votes) < readers:
        return None
    # Readers may differ in the shape that they give to the same order.
    return votes[0] if len({vote.arranged.key[:2] for vote in votes}) == 1 else None


def _wish(node: Node, graph: Graph, own: WantedLayout | None) -> tuple[str, WantedLayout | None]:
    """The data of a node, and the layout in which the node wants it, if ``own`` is the layout in
    which its result is wanted."""
    if node.op in CHANGES or isinstance(node.attrs, ReshapeAttrs):
        (name,) = node.inputs
        first = after(Arrangement.same(graph.types[name].shape), node)
        both = joined(first, own.arranged) if first and own else None
        if both is not None and own is not None:
            # A reshape around the change is part of it, but does not name it.
            return name, WantedLayout(both, own.node if own.node.op in CHANGES else node)
        return name, WantedLayout(first, node) if first else None
    name = _data(node, graph)
    if own is None or own.arranged.is_view or not name:
        return name, None
    if isinstance(node.attrs, PadAttrs):
        found = _before_pad(own.arranged, graph.types[name].shape)
        return name, WantedLayout(found, own.node) if found else None
    is_alike = graph.types[name].shape == graph.types[node.outputs[0]].shape
    return name, own if node.op in ELEMENTWISE and is_alike else None


def _data(node: Node, graph: Graph) -> str:
    """The only operand of a node that is no constant, if it has no more bytes than the result;
    otherwise an empty text."""
    data = [name for name in node.inputs if name not in graph.constants]
    if len(data) != 1 or graph.types[data[0]].nbytes > graph.types[node.outputs[0]].nbytes:
        return ""
    return data[0]


def _before_pad(arranged: Arrangement, shape: tuple[int, ...]) -> Arrangement | None:
    """The layout of the data of that shape of a pad whose result is ``arranged``."""
    back = arranged.inverse()
    places = back.places() if back else None
    if places is None:
        return None
    now = list(arranged.shape)
    sizes: dict[int, int] = {}
    for axis, (place, size, padded) in enumerate(zip(places, shape, arranged.source, strict=True)):
        if size == padded:
            continue
        if place is None or len(arranged.parts[axis]) != 1:
            return None
        now[place], sizes[axis] = size, size
    found = arranged.resized(sizes, now)
    return found if math.prod(now) == math.prod(shape) else None
