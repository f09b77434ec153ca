"""Layers of sums, as passes that remove channels see them: convolutions, depthwise convolutions and
dense layers of stored integers, with constant weights and biases."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from microgen.arithmetic.int8 import scales_of_sums
from microgen.ir.graph import Array, DType, Graph, Node, TensorType
from microgen.ops import registry
from microgen.ops.base import Operands
from microgen.ops.constraints import weight_zero
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.dense import DenseAttrs
from microgen.ops.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.ops.geometry import explicit
from microgen.passes.channel_links import width

LAST = 2**31 - 1  # the greatest sum that every kernel can hold
_AXES = {"nn.conv2d": (0, 3), "nn.depthwise_conv2d": (3, None), "nn.dense": (0, 1)}

SumsAttrs = Conv2DAttrs | DepthwiseConv2DAttrs | DenseAttrs


@dataclass(frozen=True, slots=True)
class Sums:
    """A layer of sums: its node, types and attributes.

    ``axis`` is that of the weight's output channels, ``inner`` that of its input channels, or None
    for a depthwise convolution. ``source`` [features] is the input's channel that each feature, an
    index of ``inner``, is in; for a depthwise convolution it has the channel of each output.
    ``positive`` and ``negative`` are the sums of the weights of each sign, less the zero point, at
    all places of the window: int64 [outputs, features]; one column for a depthwise convolution.
    """

    node: Node
    attrs: SumsAttrs
    data: TensorType
    weight: TensorType
    output: TensorType
    axis: int
    inner: int | None
    source: Array
    positive: Array
    negative: Array
    bias: Array

    @property
    def is_padded(self) -> bool:
        """Whether windows may lie partly outside the data, where it means 0."""
        return not isinstance(self.attrs, DenseAttrs) and any(explicit(self.attrs.padding))

    @property
    def is_read(self) -> Array:
        """Which output reads which feature: bool [outputs, features]."""
        return (self.positive != 0) | (self.negative != 0)


def sums_of(node: Node, graph: Graph) -> Sums | None:
    """The node as a layer of sums, or None if it is none, or one whose channels must be kept."""
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
    values = graph.constants[node.inputs[1]].astype(np.int64) - weight_zero(weight)
    values = np.moveaxis(values, axis, 0)
    places = tuple(range(1, values.ndim - (inner is not None)))
    flat = values.reshape(len(values), *values.shape[1:])
    positive, negative = (part.sum(axis=places) for part in (flat.clip(0), flat.clip(None, 0)))
    bias = graph.constants[node.inputs[2]] if len(node.inputs) > 2 else np.zeros(len(values))
    return Sums(
        *(node, attrs, data, weight, output, axis, inner, source),
        *(part.reshape(len(values), -1) for part in (positive, negative)),
        bias.astype(np.int64),
    )


def _source(attrs: SumsAttrs, data: TensorType, weight: TensorType) -> Array | None:
    if isinstance(attrs, DepthwiseConv2DAttrs):
        return np.arange(weight.shape[3]) // attrs.depth_multiplier
    features = weight.shape[-1]
    if isinstance(attrs, Conv2DAttrs) and features != width(data):
        return None  # groups: their filters must remain of one size
    return None if features % width(data) else np.arange(features) % width(data)


def bounds(sums: Sums, low: Array, high: Array) -> tuple[Array, Array]:
    """The least and the greatest sum of each output, with the bias: int64 [outputs]. ``low`` and
    ``high`` are those of the stored values of each channel of the input."""
    low, high = (ends[sums.source] - sums.data.zero for ends in (low, high))
    if sums.is_padded:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    if sums.inner is None:
        least, most = sums.positive[:, 0] * low, sums.positive[:, 0] * high
        return (
            least + sums.negative[:, 0] * high + sums.bias,
            most + sums.negative[:, 0] * low + sums.bias,
        )
    return (
        sums.positive @ low + sums.negative @ high + sums.bias,
        sums.positive @ high + sums.negative @ low + sums.bias,
    )


def scaled(sums: Sums, found: Array) -> Array:
    """The stored outputs of sums that fit int32, int64 [outputs]. The layer's own reference computes
    them, with the sums as its bias, from data and weights of one element that have no part in it."""
    count = len(found)
    attrs = sums.attrs
    if isinstance(attrs, DenseAttrs):
        attrs = dataclasses.replace(attrs, keep_num_dims=False)
        data, weight = (1, 1), (count, 1)
    else:
        attrs = dataclasses.replace(attrs, padding=(0, 0, 0, 0))
        channels = 1 if sums.inner is not None else width(sums.data)
        data = (1, 1, 1, channels)
        weight = (count, 1, 1, 1) if sums.inner is not None else (1, 1, 1, count)
    shapes = (data, weight, (count,))
    kinds = [dataclasses.replace(t, shape=s) for t, s in zip(_types(sums), shapes, strict=True)]
    inputs = (np.full(data, sums.data.zero, sums.data.dtype.numpy), np.zeros(weight, np.int8))
    output = dataclasses.replace(sums.output, shape=(*data[:-1], count))
    operands = Operands((*inputs, found), tuple(kinds), (output,))
    return np.asarray(registry()[sums.node.op].reference(attrs, operands)[0].reshape(-1), np.int64)


def _types(sums: Sums) -> tuple[TensorType, TensorType, TensorType]:
    return sums.data, sums.weight, TensorType((), DType.INT64)


def is_monotonic(sums: Sums, low: Array, high: Array) -> Array:
    """For which outputs greater sums never give smaller results: bool [outputs]. Roundings are
    monotonic, and so are clamps. What is not is an overflow of 32 bits, which is ruled out here with
    a factor of 2 to spare."""
    largest = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    if sums.output.dtype is DType.INT32:
        return np.asarray(largest <= LAST)
    scales = scales_of_sums(sums.data, sums.weight, sums.output, sums.attrs.rounding)
    return np.asarray(largest * np.maximum(1, 2 * scales) < 2**30)
