"""Nodes that compute the same in any order of axes, and their attributes in another order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from microgen.compiler.passes.arrangement import Arrangement, Shape
from microgen.graph.ir.graph import ArrayType, Attrs, Graph, Node
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

T = TypeVar("T")

ELEMENTWISE = frozenset(
    {
        *("abs", "cast", "ceil", "clip", "cos", "exp", "floor", "log", "logical_not", "negative"),
        *("real_function", "round", "rsqrt", "sigmoid", "sin", "sqrt", "tanh"),
        *("nn.elu", "nn.hard_swish", "nn.leaky_relu"),
        *("qnn.dequantize", "qnn.quantize", "qnn.requantize"),
        *("qnn.add", "qnn.mul", "qnn.subtract"),
        *("add", "divide", "maximum", "minimum", "multiply", "squared_difference", "subtract"),
        *("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"),
        *("logical_and", "logical_or", "nn.prelu", "power", "where"),
    }
)
_WITH_TABLES = (LookupAttrs, ResampleAttrs, TakeAttrs)  # after the first input
_SUMS = ("mean", "sum")  # the order of additions matters for floats


@dataclass(frozen=True, slots=True)
class Moved:
    """A node that reads sources instead of tensors that are arranged from them: its attributes,
    and the arrangement that makes the node's output of its new one."""

    attrs: Attrs
    arranged: Arrangement


def in_layout(node: Node) -> tuple[str, ...]:
    """The inputs of a node that ``moved`` has in the other layout. Tables remain as they are."""
    return node.inputs[:1] if isinstance(node.attrs, _WITH_TABLES) else node.inputs


def moved(node: Node, graph: Graph, arranged: Arrangement) -> Moved | None:
    """The node with its inputs ``in_layout``, one of which is ``arranged``, in the layout of the
    source; None if it needs its own layout."""
    output = graph.types[node.outputs[0]]
    # The axis of its scales would have to move, too.
    if output.quant is not None and not output.quant.is_per_tensor:
        return None
    if node.op in ELEMENTWISE:
        return _elementwise(node, graph, arranged)
    places = arranged.places()
    if places is None:
        return None
    return _Moving(node, arranged, places, graph.types[node.inputs[0]], output).moved()


def _elementwise(node: Node, graph: Graph, arranged: Arrangement) -> Moved | None:
    shape = graph.types[node.outputs[0]].shape
    if arranged.shape != shape:
        # An operand that is repeated along axes has these with size 1.
        axes = arranged.axes
        if axes is None or len(axes) != len(shape):
            return None
        arranged = Arrangement.transpose([shape[axes.index(k)] for k in range(len(axes))], axes)
    for name in node.inputs:
        like = arranged.like(padded(graph.types[name], len(shape)))
        if like is None:
            return None
    return Moved(node.attrs, arranged)


def padded(kind: ArrayType, rank: int) -> Shape:
    """The shape with axes of size 1 before its own, so that it has ``rank`` axes."""
    return (1,) * (rank - len(kind.shape)) + kind.shape


@dataclass(frozen=True, slots=True)
class _Moving:
    """A node of one input, or a concatenation, and the source axes in the places of its axes."""

    node: Node
    arranged: Arrangement
    places: tuple[int | None, ...]
    data: ArrayType
    output: ArrayType

    def moved(self) -> Moved | None:
        """The node in the source's layout."""
        attrs = self.node.attrs
        match attrs:
            case RescaleAttrs(_, float()) | LookupAttrs():
                return Moved(attrs, self.arranged)
            case ReinterpretAttrs(shape):
                return Moved(ReinterpretAttrs(self.arranged.source), self.arranged.reshaped(shape))
            case ConcatenateAttrs(axis):
                return self._along(axis, ConcatenateAttrs)
            case PadAttrs(pads) | MirrorPadAttrs(pads):
                own = self._by_place(pads, [(0, 0)] * len(self.arranged.parts))
                return self._resized(dataclasses.replace(attrs, pads=own)) if own else None
            case StridedSliceAttrs(begin, strides, shape):
                return self._sliced(begin, strides, shape)
            case ResampleAttrs(axis):
                return self._along(axis, ResampleAttrs)
            # With indices of another rank the result has other axes than the data.
            case TakeAttrs(axis, 0) if len(self.output.shape) == len(self.data.shape):
                return self._along(axis, TakeAttrs)
            case ReductionAttrs():
                return self._reduced(attrs)
            case ArgExtremeAttrs(axis):
                place = self.places[axis]
                if place is None:
                    return None
                left = self.arranged.without((place,), self.output.shape)
                return Moved(dataclasses.replace(attrs, axis=place), left)
        return None

    def _along(self, axis: int, attrs: Callable[[int], Attrs]) -> Moved | None:
        """A node that joins or changes one axis."""
        place = self.places[axis]
        return None if place is None else self._resized(attrs(place), axis)

    def _resized(self, attrs: Attrs, *axes: int) -> Moved:
        """The node with an output whose axes have other sizes than the data's."""
        shape = self.output.shape
        pairs = zip(self.places, shape, self.arranged.shape, strict=True)
        sizes = {k: own for k, own, size in pairs if k is not None and own != size}
        sizes.update((k, shape[axis]) for axis in axes if (k := self.places[axis]) is not None)
        return Moved(attrs, self.arranged.resized(sizes, shape))

    def _by_place(self, values: Sequence[T], others: Sequence[T]) -> tuple[T, ...] | None:
        """One value for each source axis. ``others`` are the values that change nothing; an axis
        without a place must have such a value."""
        found = list(others)
        for axis, (place, value) in enumerate(zip(self.places, values, strict=True)):
            if place is not None:
                found[place] = value
            elif value != self._nothing(axis, others):
                return None
        return tuple(found)

    def _nothing(self, axis: int, others: Sequence[T]) -> object:
        """The value that changes nothing along an axis of the node's."""
        if isinstance(self.node.attrs, StridedSliceAttrs):
            return 0, 1, self.data.shape[axis]
        return others[0]

    def _sliced(self, begin: Shape, strides: Shape, shape: Shape) -> Moved | None:
        whole = [(0, 1, size) for size in self.arranged.source]
        found = self._by_place(list(zip(begin, strides, shape, strict=True)), whole)
        return self._resized(StridedSliceAttrs(*zip(*found, strict=True))) if found else None

    def _reduced(self, attrs: ReductionAttrs) -> Moved | None:
        divided = self.arranged.divided()
        if divided is None:
            return None
        whole, runs = divided
        sizes, axis_of = whole.sizes, whole.axis_of_factors()
        reduced = [k for axis in attrs.axes for k in runs[axis] if sizes[k] != 1]
        # Floats are added in the order of the axes, and another order rounds differently.
        if self.node.op in _SUMS and reduced != sorted(reduced):
            return None
        gone = {axis_of[k] for k in reduced}
        if any(sizes[k] != 1 and k not in reduced for k, at in enumerate(axis_of) if at in gone):
            return None
        # Axes of size 1 are reduced as well, because a reduced axis that is kept has size 1.
        gone.update(k for axis in attrs.axes if (k := self.places[axis]) is not None)
        if not gone:
            return None
        now = dataclasses.replace(attrs, axes=tuple(sorted(gone)))
        if attrs.keep_dims:
            kept = whole.kept(gone)
            return Moved(now, kept.reshaped(self.output.shape).merged())
        return Moved(now, whole.without(tuple(gone), self.output.shape).merged())


def letters_left(letters: str, node: Node, rank: int) -> str:
    """The names of the axes of a node's output; ``letters`` are the axes of its input."""
    if len(letters) == rank:
        return letters
    gone = node.attrs.axes if isinstance(node.attrs, ReductionAttrs) else ()
    gone = (node.attrs.axis,) if isinstance(node.attrs, ArgExtremeAttrs) else gone
    return "".join(letter for i, letter in enumerate(letters) if i not in gone)
