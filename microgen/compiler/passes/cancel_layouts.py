"""Moves changes of layout past nodes that compute in any layout, so that the changes cancel.

A change moves past a node only if the node still computes each element from the same elements in
the same order. So integers do not change at all, and floats are rounded as before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from microgen.compiler.passes.any_layout import (
    Axes,
    Moved,
    in_layout,
    inverse,
    is_identity,
    is_view,
    letters_left,
    moved,
    permuted,
)
from microgen.compiler.passes.changes import Changes
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import ArrayType, Attrs, Graph, Node
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs, TransposeAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

_CHANGE = "layout_transform"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # names of axes that have none


def cancel_layouts(graph: Graph) -> Graph:
    """The graph in which no change of layout undoes another, and each comes as late as possible.

    A change that moves only axes of size 1 becomes a reshape. Nothing crosses from one target or
    external function to another. Graphs without ``layout_transform`` are not changed.
    """
    if not any(node.op == _CHANGE for node in graph.nodes):
        return graph
    return _Rewriting(graph, Changes(graph)).rewritten()


@dataclass(frozen=True, slots=True)
class _Pending:
    """A tensor that equals another one in another layout, and that no node has computed yet.

    Its axis k is axis ``axes[k]`` of ``source``, whose axes are named ``letters``. ``node`` is the
    node that the change of layout belongs to.
    """

    source: str
    axes: Axes
    letters: str
    node: Node


@dataclass(slots=True)
class _Rewriting:
    """The graph as it is rewritten, node by node, in order."""

    graph: Graph
    changes: Changes
    nodes: list[Node] = field(default_factory=list)
    pending: dict[str, _Pending] = field(default_factory=dict)
    known: dict[tuple[object, ...], str] = field(default_factory=dict)  # tensors moved already
    sought: set[str] = field(default_factory=set)  # tensors that are read by changes of layout

    def rewritten(self) -> Graph:
        self.sought.update(_sought(self.graph))
        before: Node | None = None
        for node in self.graph.nodes:
            # The nodes of an external function must remain next to each other: it is compiled in
            # one step.
            if before is not None and before.function and before.function != node.function:
                self._leave(before.function)
            before = node
            if isinstance(node.attrs, LayoutTransformAttrs | TransposeAttrs):
                self._postpone(node, node.attrs)
            else:
                self._add(node)
        outputs = tuple(self._computed(name) for name in self.graph.outputs)
        updates = {v: self._computed(name) for v, name in self.graph.updates.items()}
        return self.changes.made(nodes=tuple(self.nodes), outputs=outputs, updates=updates)

    def _leave(self, function: str) -> None:
        """Compute the pending results of an external function at its end, so that its nodes stay
        next to each other."""
        for name, change in list(self.pending.items()):
            if change.node.function == function:
                self._computed(name)

    def _postpone(self, node: Node, attrs: LayoutTransformAttrs | TransposeAttrs) -> None:
        (name,) = node.inputs
        first = self._seen(name, node)
        if first is None:
            is_named = isinstance(attrs, LayoutTransformAttrs)
            letters = attrs.src_layout if is_named else _LETTERS[: len(attrs.axes)]  # type: ignore[union-attr]
            first = _Pending(self._computed(name), tuple(range(len(attrs.axes))), letters, node)
        # Two changes of layout, one after the other, are one.
        axes = permuted(first.axes, attrs.axes)
        self.pending[node.outputs[0]] = dataclasses.replace(first, axes=axes, node=node)

    def _seen(self, name: str, reader: Node) -> _Pending | None:
        """The pending change of layout that makes a tensor, if it may move past the reader."""
        found = self.pending.get(name)
        return found if found and found.node.place == reader.place else None

    def _add(self, node: Node) -> None:
        """Add a node that is not a change of layout, in the layout of its inputs if that needs no
        further changes."""
        lead = self._lead(node)
        whole = moved(node, self.graph, lead.axes) if lead else None
        if lead is None or whole is None:
            inputs = tuple(map(self._computed, node.inputs))
            self.nodes.append(dataclasses.replace(node, inputs=inputs))
        else:
            self._add_moved(node, lead, whole)

    def _lead(self, node: Node) -> _Pending | None:
        """The change of layout to move past the node, or None."""
        changes = {name: self._seen(name, node) for name in in_layout(node)}
        # The move must remove more changes of inputs than it adds. It removes an input's change if
        # the change is made for this node alone, and always if another change may follow the node.
        saved = [
            name
            for name, change in changes.items()
            if change is not None
            and (node.outputs[0] in self.sought or not self._is_made(name, change))
        ]
        for lead in changes.values():
            if lead is None or is_identity(lead.axes):
                continue
            lacking = [
                name
                for name, change in changes.items()
                if (change is None or change.axes != lead.axes) and self._costs(name, lead, node)
            ]
            if len(lacking) < len(saved):
                return lead
        return None

    def _is_made(self, name: str, change: _Pending) -> bool:
        """Whether a tensor is computed in any case, in the layout that it has in the graph."""
        is_known = (change.source, change.axes, change.node.place) in self.known
        return is_known or name in self.graph.results

    def _costs(self, name: str, lead: _Pending, node: Node) -> bool:
        """Whether a node would have to move the tensor's elements to the other layout."""
        back, shape = inverse(lead.axes), self._padded(name, len(lead.axes))
        is_there = name in self.graph.constants or (name, back, node.place) in self.known
        return not is_there and not is_view(shape, back)

    def _padded(self, name: str, rank: int) -> tuple[int, ...]:
        shape = self.changes.types[name].shape
        return (1,) * (rank - len(shape)) + shape

    def _add_moved(self, node: Node, lead: _Pending, whole: Moved) -> None:
        output = node.outputs[0]
        others = node.inputs[len(in_layout(node)) :]
        inputs = (
            *(self._laid_out(name, lead, node) for name in in_layout(node)),
            *map(self._computed, others),
        )
        result = dataclasses.replace(node, attrs=whole.attrs, inputs=inputs)
        if not is_identity(whole.axes):
            letters = letters_left(lead.letters, result, len(whole.axes))
            shape = permuted(self.changes.types[output].shape, inverse(whole.axes))
            name = self._new(f"{output}#{letters}", self.changes.types[output], shape)
            self.changes.laid_out[name] = layouts.reordered(self.graph, output, whole.axes)
            result = dataclasses.replace(result, outputs=(name,))
            self.pending[output] = _Pending(name, whole.axes, letters, node)
        self.nodes.append(result)

    def _laid_out(self, name: str, lead: _Pending, node: Node) -> str:
        """A tensor in the layout of ``lead.source``."""
        seen = self._seen(name, node)
        if seen is not None and seen.axes == lead.axes:
            return seen.source
        rank, back = len(lead.axes), inverse(lead.axes)
        shape = self._padded(name, rank)
        # One element is the same in every layout.
        if max(shape) == 1 and rank > 1:
            return self._computed(name)
        source = self._computed(name)
        if is_view(shape, back):
            return self._shaped(source, permuted(shape, back), node)
        letters = "".join(permuted(lead.letters, lead.axes))
        change = _Pending(self._shaped(source, shape, node), back, letters, node)
        wanted = layouts.fresh(self.graph, f"{name}#{lead.letters}", more=self.changes.types)
        found = self._changed(change, wanted)
        if found == wanted and rank == len(self.changes.types[name].shape):
            self.changes.laid_out[found] = layouts.reordered(self.graph, name, lead.axes)
        return found

    def _shaped(self, name: str, shape: tuple[int, ...], node: Node) -> str:
        """A tensor with another shape."""
        if self.changes.types[name].shape == shape:
            return name
        key = (name, ReshapeAttrs(shape), node.place)
        if key not in self.known:
            self.known[key] = self._new(f"{name}#reshape", self.changes.types[name], shape)
            self._append("reshape", ReshapeAttrs(shape), name, self.known[key], node)
        return self.known[key]

    def _computed(self, name: str) -> str:
        """The tensor itself, or an equal one that is already computed."""
        change = self.pending.get(name)
        return name if change is None else self._changed(change, name)

    def _changed(self, change: _Pending, wanted: str) -> str:
        """The result of a change of layout, with the wanted name if it is the first to make it."""
        if is_identity(change.axes):
            return change.source
        key = (change.source, change.axes, change.node.place)
        if key in self.known:
            return self.known[key]
        source = self.changes.types[change.source]
        shape = permuted(source.shape, change.axes)
        if wanted not in self.changes.types:
            wanted = self._new(wanted, source, shape)
        self.known[key] = wanted
        attrs = _attrs(change, source)
        op = {ReshapeAttrs: "reshape", TransposeAttrs: "transpose"}.get(type(attrs), _CHANGE)
        self._append(op, attrs, change.source, wanted, change.node)
        return wanted

    def _append(self, op: str, attrs: Attrs, source: str, output: str, node: Node) -> None:
        self.nodes.append(
            dataclasses.replace(node, op=op, attrs=attrs, inputs=(source,), outputs=(output,))
        )

    def _new(self, wanted: str, like: ArrayType, shape: Sequence[int]) -> str:
        return self.changes.tensor(wanted, dataclasses.replace(like, shape=tuple(shape)))


def _sought(graph: Graph) -> set[str]:
    """Tensors that changes of layout read, directly or after nodes that compute in any layout."""
    found: set[str] = set()
    for node in reversed(graph.nodes):
        axes = tuple(range(max((len(t.shape) for t in graph.type_of(node.inputs)), default=0)))
        is_open = node.outputs[0] in found and moved(node, graph, axes) is not None
        if node.op == _CHANGE or is_open:
            found.update(in_layout(node))
    return found


def _attrs(change: _Pending, source: ArrayType) -> Attrs:
    """The attributes of a reshape if no element moves, and of a transpose if it was one."""
    if is_view(source.shape, change.axes):
        return ReshapeAttrs(permuted(source.shape, change.axes))
    if change.node.op == "transpose":
        return TransposeAttrs(change.axes)
    return LayoutTransformAttrs(change.letters, "".join(permuted(change.letters, change.axes)))
