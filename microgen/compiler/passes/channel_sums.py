"""Layers of sums, as passes that remove channels see them: convolutions, depthwise convolutions and
dense layers of stored integers, with constant weights and biases."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from microgen.compiler.passes.channel_links import width
from microgen.graph.arithmetic import blocks
from microgen.graph.arithmetic.int8 import scales_of_sums
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands, Shape
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.convolution.convolution import centred
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit

LAST = 2**31 - 1  # the greatest sum that every kernel can hold
# The weight's axes: output channels, input channels.
_AXES = {"nn.conv2d": (0, 3), "nn.depthwise_conv2d": (3, None), "nn.dense": (0, 1)}

SumsAttrs = Conv2DAttrs | DepthwiseConv2DAttrs | DenseAttrs


@dataclass(frozen=True, slots=True)
class ChannelSums:
    """A layer of sums: its node, types and attributes.

    ``axis`` is the axis of the weight's output channels, ``inner`` the axis of its input channels,
    or None for a depthwise convolution. ``source`` [features] is the input's channel of each
    feature, an index of ``inner``; for a depthwise convolution it has the channel of each output.
    ``values`` is the weight as stored, ``bias`` int64 [outputs].
    """

    node: Node
    attrs: SumsAttrs
    data: ArrayType
    weight: ArrayType
    output: ArrayType
    axis: int
    inner: int | None
    source: Array
    values: Array
    bias: Array

    @property
    def is_padded(self) -> bool:
        """Whether windows may cover places outside the data, which count as 0."""
        return not isinstance(self.attrs, DenseAttrs) and max(explicit(self.attrs.padding)) > 0

    def is_read(self) -> Array:
        """Which output reads which feature: bool [outputs, features]."""
        return np.concatenate([places.any(axis=1) for places in self._places()])

    def parts(self) -> tuple[Array, Array]:
        """The sums of the positive and of the negative weights at all places of the window, int64
        [outputs, features]; one column for a depthwise convolution."""
        positive, negative = zip(*self._parts(), strict=True)
        return np.concatenate(positive), np.concatenate(negative)

    def of_parts(self, measure: Callable[[Array, Array], Array]) -> Array:
        """A measure of each output. ``measure`` gets ``parts`` of some outputs, and returns an
        array whose last axis is these outputs."""
        return np.concatenate([measure(*parts) for parts in self._parts()], axis=-1)

    def _parts(self) -> Iterator[tuple[Array, Array]]:
        for places in self._places():
            yield (
                places.clip(0).sum(axis=1, dtype=np.int64),
                places.clip(None, 0).sum(axis=1, dtype=np.int64),
            )

    def _places(self) -> Iterator[Array]:
        """The weights as [outputs, places of the window, features], some outputs at a time."""
        rows = np.moveaxis(self.values, self.axis, 0)
        features = 1 if self.inner is None else self.values.shape[self.inner]
        rows = rows.reshape(len(rows), -1, features)
        return (centred(rows[part], self.weight) for part in blocks.slices(rows))


def sums_of(node: Node, graph: Graph) -> ChannelSums | None:
    """The node as a layer of sums, or None if it is another one, or its channels must be kept."""
    attrs = node.attrs
    if not isinstance(attrs, SumsAttrs) or any(node.place):
        return None
    if not all(name in graph.constants for name in node.inputs[1:]):
        return None
    data, weight, *_ = graph.type_of(node.inputs)
    output = graph.types[node.outputs[0]]
    if data.dtype not in (DType.INT8, DType.INT16) or data.quant is None or not data.size:
        return None
    axis, inner = _AXES[node.op]
    source = _source(attrs, data, weight)
    if source is None:
        return None
    values = graph.constants[node.inputs[1]]
    bias = np.zeros(weight.shape[axis], np.int64)
    for name in node.inputs[2:]:
        bias = graph.constants[name].astype(np.int64)
    return ChannelSums(
        *(node, attrs, data, weight, output, axis, inner),
        *(source, values, bias),
    )


def _source(attrs: SumsAttrs, data: ArrayType, weight: ArrayType) -> Array | None:
    if isinstance(attrs, DepthwiseConv2DAttrs):
        return np.arange(weight.shape[3]) // attrs.depth_multiplier
    features = weight.shape[-1]
    if isinstance(attrs, Conv2DAttrs) and features != width(data):
        return None  # groups: their filters must remain of one size
    return None if features % width(data) else np.arange(features) % width(data)


def bounds(sums: ChannelSums, low: Array, high: Array) -> tuple[Array, Array]:
    """The least and the greatest sum of each output, with the bias: int64 [outputs]. ``low`` and
    ``high`` are the bounds of the stored values of each channel of the input."""
    low, high = (ends[sums.source] - sums.data.zero for ends in (low, high))
    # A place outside the data adds 0.
    if sums.is_padded:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    # Interval arithmetic: with a negative weight the greatest value makes the least sum.
    if sums.inner is None:
        positive, negative = (each[:, 0] for each in sums.parts())
        least, most = positive * low + negative * high, positive * high + negative * low
    else:
        least, most = sums.of_parts(lambda p, n: np.stack([p @ low + n @ high, p @ high + n @ low]))
    return least + sums.bias, most + sums.bias


def scaled(sums: ChannelSums, found: Array) -> Array:
    """The stored outputs of sums that fit int32, int64 [outputs]."""
    count, attrs = len(found), sums.attrs
    shapes: tuple[Shape, ...] = ((1, 1), (count, 1), (count,), (1, count))
    if not isinstance(attrs, DenseAttrs):
        attrs = dataclasses.replace(attrs, padding=(0, 0, 0, 0))
        if sums.inner is None:
            shapes = ((1, width(sums.data)), (1, count), (count,), (1, count))
        shapes = tuple((*s[:-1], 1, 1, s[-1]) if s != (count,) else s for s in shapes)
    bias = ArrayType((), DType.INT64)
    kinds = tuple(
        dataclasses.replace(kind, shape=shape)
        for kind, shape in zip((sums.data, sums.weight, bias, sums.output), shapes, strict=True)
    )
    # The layer's own reference computes them. The data is one pixel that means 0, the window has
    # one place, and the sums are the biases.
    data = np.full(shapes[0], sums.data.zero, sums.data.dtype.numpy)
    operands = Operands((data, np.zeros(shapes[1], np.int8), found), kinds[:3], kinds[3:])
    (result,) = registry()[sums.node.op].reference(attrs, operands)
    return result.reshape(-1).astype(np.int64)


def is_monotonic(sums: ChannelSums, low: Array, high: Array) -> Array:
    """For which outputs greater sums never give smaller results: bool [outputs]."""
    largest = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    if sums.output.dtype is DType.INT32:
        return np.asarray(largest <= LAST)
    scales = scales_of_sums(sums.data, sums.weight, sums.output, sums.attrs.rounding)
    # Roundings are monotonic, and so are clamps. Overflows of 32 bits are not, so they are ruled
    # out, with a factor of 2 to spare.
    return np.asarray(largest * np.maximum(1, 2 * scales) < 2**30)
