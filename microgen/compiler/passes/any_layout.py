"""Nodes that compute the same in any order of axes, and their attributes in another order.

``axes`` is always an order of a tensor's axes: axis k of the tensor in the graph is axis
``axes[k]`` of the same tensor in the other layout.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from microgen.graph.ir.graph import Attrs, Graph, Node
from microgen.graph.ops.detection.sampling import ResampleAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReinterpretAttrs
from microgen.graph.ops.quantization.rescale import RescaleAttrs
from microgen.graph.ops.reductions.extremes import ArgExtremeAttrs
from microgen.graph.ops.reductions.reduction import ReductionAttrs
from microgen.graph.ops.tables.tables import LookupAttrs

Axes = tuple[int, ...]
T = TypeVar("T")

_ELEMENTWISE = frozenset(
    {
        *("abs", "cast", "clip", "exp", "log", "logical_not", "negative", "rsqrt", "sigmoid"),
        *("sqrt", "tanh", "nn.elu", "nn.hard_swish", "nn.leaky_relu"),
        *("qnn.dequantize", "qnn.quantize", "qnn.requantize"),
        *("qnn.add", "qnn.mul", "qnn.subtract"),
        *("add", "divide", "maximum", "minimum", "multiply", "squared_difference", "subtract"),
        *("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"),
        *("logical_and", "logical_or", "nn.prelu", "where"),
    }
)
_WITH_TABLES = (LookupAttrs, ResampleAttrs, TakeAttrs)  # after the first input
_SUMS = ("mean", "sum")  # the order of additions matters for floats


@dataclass(frozen=True, slots=True)
class Moved:
    """A node in another layout: its attributes, and the order of its output's axes."""

    attrs: Attrs
    axes: Axes


def permuted(values: Sequence[T], axes: Axes) -> tuple[T, ...]:
    """One value per axis, in the order of ``axes``."""
    return tuple(values[axis] for axis in axes)


def inverse(axes: Axes) -> Axes:
    """The order that undoes ``axes``."""
    return tuple(axes.index(axis) for axis in range(len(axes)))


def is_identity(axes: Axes) -> bool:
    """Whether no axis moves."""
    return axes == tuple(range(len(axes)))


def is_view(shape: Sequence[int], axes: Axes) -> bool:
    """Whether elements keep their order when the axes of a tensor of that shape are reordered:
    only axes of size 1 change places."""
    # Axes of size 1 do not affect the order of elements, so only the other axes count.
    moving = [axis for axis in axes if shape[axis] != 1]
    return moving == sorted(moving)


def in_layout(node: Node) -> tuple[str, ...]:
    """The inputs of a node that ``moved`` has in the other layout. Tables remain as they are."""
    return node.inputs[:1] if isinstance(node.attrs, _WITH_TABLES) else node.inputs


def moved(node: Node, graph: Graph, axes: Axes) -> Moved | None:
    """The node with its inputs ``in_layout`` in the other one; None if it needs its own layout."""
    output = graph.types[node.outputs[0]]
    # The axis of its scales would have to move, too.
    if output.quant is not None and not output.quant.is_per_tensor:
        return None
    if node.op in _ELEMENTWISE:
        return Moved(node.attrs, axes) if len(output.shape) == len(axes) else None
    return _moved(node, graph, axes)


def _moved(node: Node, graph: Graph, axes: Axes) -> Moved | None:
    back = inverse(axes)
    match node.attrs:
        case RescaleAttrs(_, float()) | LookupAttrs():
            return Moved(node.attrs, axes)
        case ReinterpretAttrs(shape) if shape == graph.types[node.inputs[0]].shape:
            return Moved(ReinterpretAttrs(permuted(shape, back)), axes)
        case ConcatenateAttrs(axis):
            return Moved(ConcatenateAttrs(axes[axis]), axes)
        case PadAttrs(pads) | MirrorPadAttrs(pads):
            return Moved(dataclasses.replace(node.attrs, pads=permuted(pads, back)), axes)
        case StridedSliceAttrs(begin, strides, shape):
            parts = (permuted(part, back) for part in (begin, strides, shape))
            return Moved(StridedSliceAttrs(*parts), axes)
        case ResampleAttrs(axis):
            return Moved(ResampleAttrs(axes[axis]), axes)
        # With indices of another rank the result has other axes than the data.
        case TakeAttrs(axis, 0) if len(graph.types[node.inputs[1]].shape) == 1:
            return Moved(TakeAttrs(axes[axis]), axes)
        case ReductionAttrs(reduced, keep_dims):
            return _reduction(node, graph, axes, reduced, keep_dims)
        case ArgExtremeAttrs(axis):
            attrs = dataclasses.replace(node.attrs, axis=axes[axis])
            return Moved(attrs, _remaining(axes, (axis,)))
    return None


def _reduction(
    node: Node, graph: Graph, axes: Axes, reduced: Axes, keep_dims: bool
) -> Moved | None:
    shape = graph.types[node.inputs[0]].shape
    places = [axes[axis] for axis in reduced if shape[axis] != 1]
    # Floats are added in the order of the axes, and another order rounds differently.
    if node.op in _SUMS and places != sorted(places):
        return None
    assert isinstance(node.attrs, ReductionAttrs)
    attrs = dataclasses.replace(node.attrs, axes=tuple(sorted(axes[axis] for axis in reduced)))
    return Moved(attrs, axes if keep_dims else _remaining(axes, reduced))


def _remaining(axes: Axes, dropped: Sequence[int]) -> Axes:
    """The order of the remaining axes."""
    # The axes that are left are numbered anew, in the other layout's order.
    left = [place for axis, place in enumerate(axes) if axis not in dropped]
    return tuple(sorted(left).index(place) for place in left)


def letters_left(letters: str, node: Node, rank: int) -> str:
    """The names of the axes of a node's output; ``letters`` are the axes of its input."""
    if len(letters) == rank:
        return letters
    gone = node.attrs.axes if isinstance(node.attrs, ReductionAttrs) else ()
    gone = (node.attrs.axis,) if isinstance(node.attrs, ArgExtremeAttrs) else gone
    return "".join(letter for i, letter in enumerate(letters) if i not in gone)
