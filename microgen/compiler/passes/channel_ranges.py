"""The values that each channel of each tensor can have for any inputs of the network.

A range is proven from weights, biases and clamps with the arithmetic of the ops' own references. A
channel whose least and greatest values are equal has this value in every pixel for every input.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.compiler.passes import channel_sums
from microgen.compiler.passes.channel_links import Link, links, width
from microgen.compiler.passes.channel_sums import ChannelSums
from microgen.graph.arithmetic.int8 import clamp
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node
from microgen.graph.ops import BY_ELEMENT, registry
from microgen.graph.ops.base import Operands, Shape
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs

_INTEGERS = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16, DType.INT32)
_MOVES = ("concatenate", "nn.pad", "qnn.reinterpret", "reshape")
_LARGEST = 2**16  # a mean of more values is not computed, so its channels are unknown


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest stored value of each channel, int64 [channels]. In a constant
    channel they are equal."""

    low: Array
    high: Array

    @property
    def is_constant(self) -> Array:
        """Which channels are constant: bool [channels]."""
        return np.asarray(self.low == self.high)

    def at(self, source: Array) -> Range:
        """The ranges of channels that have the values of the channels ``source``."""
        return Range(self.low[source], self.high[source])

    def joined(self, other: Range, where: Array) -> Range:
        """The ranges of ``other`` in the channels ``where``, and these ranges in all others."""
        return Range(np.where(where, other.low, self.low), np.where(where, other.high, self.high))


Ranges = Mapping[str, Range]


def ranges(graph: Graph, sums: Mapping[str, ChannelSums]) -> Ranges:
    """The range of each tensor of integers of at most 32 bits. ``sums`` are the graph's layers of
    sums by their outputs."""
    found: dict[str, Range] = {}
    for name in (*graph.inputs, *graph.variables):
        _add(found, name, graph, None)
    for name, array in graph.constants.items():
        _add(found, name, graph, _of_array(array))
    for node in graph.nodes:
        for name in node.outputs:
            layer = sums.get(name)
            own = _of_sums(layer, found) if layer else _of_links(node, graph, found)
            _add(found, name, graph, own)
    return found


def _add(found: dict[str, Range], name: str, graph: Graph, own: Range | None) -> None:
    kind = graph.types[name]
    if kind.dtype in _INTEGERS:
        found[name] = _every(kind) if own is None else own


def _every(kind: ArrayType) -> Range:
    """Every value of the dtype."""
    limits = np.iinfo(kind.dtype.numpy)
    shape = width(kind)
    return Range(np.full(shape, limits.min, np.int64), np.full(shape, limits.max, np.int64))


def _of_array(array: Array) -> Range | None:
    if array.dtype.kind not in "iu" or array.size == 0 or array.dtype.itemsize > 4:
        return None
    rows = array.reshape(-1, array.shape[-1] if array.shape else 1)
    return Range(rows.min(axis=0).astype(np.int64), rows.max(axis=0).astype(np.int64))


def _of_sums(sums: ChannelSums, found: Ranges) -> Range:
    """The range of a layer of sums: all values, unless its sums prove fewer."""
    data = found[sums.node.inputs[0]]
    low, high = channel_sums.bounds(sums, data.low, data.high)
    # Nothing is proven of a sum that may overflow int32. It is 0 below, because the reference
    # takes sums of int32 only.
    fits = (np.abs(low) <= channel_sums.LAST) & (np.abs(high) <= channel_sums.LAST)
    is_proven = fits & ((low == high) | channel_sums.is_monotonic(sums, low, high))
    ends = (channel_sums.scaled(sums, np.where(fits, sum, 0)) for sum in (low, high))
    return _every(sums.output).joined(Range(*ends), is_proven)


def _of_links(node: Node, graph: Graph, found: Ranges) -> Range | None:
    """The range of a node that computes each channel by itself, or None if it is not known."""
    own = links(node, graph)
    kinds = graph.type_of((*node.inputs, *node.outputs))
    if not own or any(kind.dtype not in _INTEGERS for kind in kinds):
        return None
    if node.op in _MOVES:
        return _moved(node, own, found)
    if isinstance(node.attrs, AvgPool2DAttrs | MaxPool2DAttrs):
        return _pooled(node.attrs, found[node.inputs[0]], graph.types[node.outputs[0]])
    return _computed(node, graph, own, found)


def _moved(node: Node, own: Sequence[Link], found: Ranges) -> Range:
    """The range of a node that only moves values: each channel has all values of its inputs."""
    given = [(found[node.inputs[link.position]].at(link.source), link) for link in own]
    # -1 means that this input has nothing in the channel: it gets the neutral elements of min and
    # max.
    low = [np.where(link.source < 0, np.iinfo(np.int64).max, each.low) for each, link in given]
    high = [np.where(link.source < 0, np.iinfo(np.int64).min, each.high) for each, link in given]
    if isinstance(node.attrs, PadAttrs) and any(map(any, node.attrs.pads)):
        low.append(np.full_like(low[0], int(node.attrs.value)))
        high.append(low[-1])
    return Range(np.min(low, axis=0), np.max(high, axis=0))


def _pooled(attrs: AvgPool2DAttrs | MaxPool2DAttrs, data: Range, output: ArrayType) -> Range | None:
    """The range of a pool, whose padding does not count."""
    # Means that are scaled in float32 may have another quantization.
    if isinstance(attrs, AvgPool2DAttrs) and attrs.in_float32:
        return None
    # Sums of int32 may overflow.
    if output.dtype not in (DType.INT8, DType.INT16) or output.quant is None:
        return None
    # Greatest values and rounded means are between the least and the greatest value.
    ends = (clamp(end, output, attrs.activation).astype(np.int64) for end in (data.low, data.high))
    return Range(*ends)


def _computed(node: Node, graph: Graph, own: Sequence[Link], found: Ranges) -> Range | None:
    """The range of any other node: the reference's results if the operands are constant."""
    output = graph.types[node.outputs[0]]
    given = [found[node.inputs[link.position]].at(link.source) for link in own]
    is_constant = np.all([each.is_constant for each in given], axis=0)
    if not is_constant.any():
        return None
    values = _evaluated(node, graph, [each.low for each in given])
    return values and _every(output).joined(values, is_constant)


def _evaluated(node: Node, graph: Graph, given: Iterable[Array]) -> Range | None:
    """The results of an operator if all pixels of its operands have the given values."""
    kinds, output = graph.type_of(node.inputs), graph.types[node.outputs[0]]
    shapes: list[Shape] = [(width(output),)] * len(kinds)
    rest: list[Array] = []
    if node.op not in BY_ELEMENT:  # the shape counts, or there are inputs without channels
        if kinds[0].size > _LARGEST:
            return None
        shapes = [kinds[0].shape] if node.op == "mean" else shapes[:1]
        rest = [graph.constants[name] for name in node.inputs[1:] if name in graph.constants]
        if len(rest) != len(kinds) - 1:
            return None
    arrays = [
        np.broadcast_to(values, shape).astype(kind.dtype.numpy)
        for values, shape, kind in zip(given, shapes, kinds, strict=False)
    ]
    own = [dataclasses.replace(k, shape=s) for k, s in zip(kinds, shapes, strict=False)]
    result = output if node.op == "mean" else dataclasses.replace(output, shape=(width(output),))
    operands = Operands((*arrays, *rest), (*own, *kinds[len(own) :]), (result,))
    found = registry()[node.op].reference(node.attrs, operands)[0]
    values = found.reshape(-1, width(output))[0].astype(np.int64)
    return Range(values, values)
