"""Averages and maxima of windows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.int8 import clamp, int32_range
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats, limits
from microgen.graph.ops.base import (
    Inexact,
    Infer,
    OpDefinition,
    Operands,
    Padding,
    Pair,
    Shape,
    Shapes,
    layer,
    one_input,
)
from microgen.graph.ops.constraints import (
    ALL_FAMILIES,
    activations_constraint,
    plain_constraint,
    unchanged_constraint,
)
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.geometry import fitted
from microgen.graph.ops.window import Along, axes, cells_seen, nhwc, spatial, taps, window_cost


@dataclass(frozen=True, slots=True)
class PoolAttrs(Attrs):
    """The attributes of the window and of the clamp of the output."""

    pool_size: Pair
    strides: Pair
    padding: Padding
    activation: Activation

    def axes(self, data: Shape) -> tuple[Along, Along]:
        """The window along rows and columns of NHWC data. It has no dilation."""
        return axes(self.padding, spatial(data), self.pool_size, self.strides, (1, 1))


def _infer(name: str) -> Infer:
    def infer(attrs: PoolAttrs, inputs: Types) -> Shapes:
        """The shape [N, OH, OW, C]. ValueError if there is none, or a window sees only padding."""
        data = one_input(name, inputs)
        batches, *_, channels = nhwc("input", data)
        pool = attrs.pool_size
        pads, places = fitted(attrs.padding, spatial(data.shape), pool, attrs.strides, (1, 1))
        # A window of padding only has no maximum, and no values to divide a sum by.
        if max(pads[0], pads[2]) >= pool[0] or max(pads[1], pads[3]) >= pool[1]:
            raise ValueError(f"padding {pads} must be smaller than the pool's {pool}")
        return ((batches, *places, channels),)

    return infer


def cost(attrs: PoolAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """One step for each value that a window covers at each of its places."""
    batches, *_, channels = shape = inputs[0].shape
    return window_cost(attrs.axes(shape), batches * channels, inputs, outputs)


@dataclass(frozen=True, slots=True)
class AvgPool2DAttrs(PoolAttrs):
    """nn.avg_pool2d: the mean of each window; padding does not count.

    Input: int8, int16, float32 or plain int32 NHWC data; the output has its quantization.

    With ``ties_upward``, for int8 data, halves are rounded upwards. LiteRT does this for uint8.
    With ``in_float32``, the output of int8 data may have another quantization, and sums are scaled
    in float32 (``in_float32.scale_of_mean``).
    """

    ties_upward: bool = False
    in_float32: bool = False


def avg_pool2d_check(attrs: AvgPool2DAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype, quantization unchanged unless sums of int8 are scaled in float32; a window's sum
    of int8 or int16 fits int32. int32 numbers are plain ones."""
    if attrs.in_float32:
        return activations_constraint(inputs[0], outputs[0]) or _sum_constraint(attrs, inputs[0])
    sentence = unchanged_constraint(inputs[0], outputs[0], (*ALL_FAMILIES, DType.INT32))
    if sentence or floats.is_float(inputs[0]):
        return sentence
    if inputs[0].dtype is DType.INT32:
        return plain_constraint("input", inputs[0])
    if attrs.ties_upward and inputs[0].dtype is not DType.INT8:
        return f"the input is {inputs[0]}; halves are rounded upwards for int8 only"
    return _sum_constraint(attrs, inputs[0])


def _sum_constraint(attrs: AvgPool2DAttrs, data: ArrayType) -> str | None:
    cells = attrs.pool_size[0] * attrs.pool_size[1]
    # Sums in float32 are of values less their zero point, which is at most 255 away from each.
    farthest = 255 if attrs.in_float32 else -limits.least(data.dtype.numpy)
    largest = cells * farthest
    if largest >= 2**31:
        return f"a window of {cells} cells may sum to {largest}; the accumulator is int32"
    return None


def _avg_pool2d_reference(attrs: AvgPool2DAttrs, operands: Operands) -> Arrays:
    # Source of the integer form: TFLite reference/integer_ops/pooling.h, AveragePool. The mean of
    # stored values over the cells inside the input, halves away from zero, or upwards
    # (reference/pooling.h, AveragePool of uint8, whose values are not negative). The mean of plain
    # int32 numbers is truncated, and their sum is modulo 2**32: TVM v0.14, topi/nn/pooling.h,
    # pool_impl_nd.
    data, output = operands.inputs[0], operands.output_types[0]
    rows, columns = attrs.axes(data.shape)
    counts = cells_seen(rows, columns)
    if floats.is_float(output):
        means = _sums(data, rows, columns, np.float32) / counts.astype(np.float32)
        return floats.activated(means, attrs.activation)
    sums = _sums(data, rows, columns, np.int64)
    if output.dtype is DType.INT32:
        return (_truncated(sums, counts, attrs.activation),)
    if attrs.in_float32:
        return (clamp(_scaled(sums, counts, operands), output, attrs.activation),)
    # Integer division rounds down, so it gets a magnitude, to round halves away from zero.
    means = np.sign(sums) * ((np.abs(sums) + counts // 2) // counts)
    if attrs.ties_upward:
        means = (sums + counts // 2) // counts
    return (clamp(means, output, attrs.activation),)


def _scaled(sums: Array, counts: Array, operands: Operands) -> Array:
    """Means of stored values in the output's stored form, which are not clamped."""
    data, output = operands.input_types[0], operands.output_types[0]
    scales = in_float32.scale_of_mean(data, output, counts)
    return in_float32.scaled(sums - counts * data.zero_point, scales) + output.zero_point


def _sums(data: Array, rows: Along, columns: Along, dtype: type) -> Array:
    """The sum of each window, added cell after cell, [N, OH, OW, C] of dtype ``dtype``."""
    sums: Array = np.zeros((len(data), rows.places, columns.places, data.shape[3]), dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        for _, places, cells in taps(rows, columns):
            sums[places] += data[cells]
    return sums


def _truncated(sums: Array, counts: Array, activation: Activation) -> Array:
    # TVM's sum of int32 numbers is an int32.
    wrapped = sums.astype(np.int32).astype(np.int64)
    means = np.sign(wrapped) * (np.abs(wrapped) // counts)
    clamped: Array = np.clip(means, *int32_range(activation))
    return clamped.astype(np.int32)


def _avg_pool2d_terms(attrs: AvgPool2DAttrs, operands: Operands) -> int:
    """The number of a window's cells that can be inside the image, which may be smaller than the
    window."""
    pairs = zip(attrs.pool_size, operands.input_types[0].shape[1:3], strict=True)
    return math.prod(min(pair) for pair in pairs)


AVG_POOL2D = OpDefinition(
    "nn.avg_pool2d",
    AvgPool2DAttrs,
    _infer("nn.avg_pool2d"),
    avg_pool2d_check,
    _avg_pool2d_reference,
    layer,
    cost=cost,
    bound=bounds.sums(_avg_pool2d_reference, _avg_pool2d_terms),
)


class MaxPool2DAttrs(PoolAttrs):
    """nn.max_pool2d: the greatest value of each window; padding does not count.

    Input: int8, int16 or float32 NHWC data; the output has its quantization.
    """


def _max_pool2d_check(_attrs: MaxPool2DAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype, quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0], ALL_FAMILIES)


def _max_pool2d_reference(attrs: MaxPool2DAttrs, operands: Operands) -> Arrays:
    """NaN is ignored, like padding."""
    # Source: TFLite reference/integer_ops/pooling.h and reference/pooling.h, MaxPool.
    data, output = operands.inputs[0], operands.output_types[0]
    largest = _greatest(attrs, data, limits.least(data.dtype))
    if floats.is_float(output):
        return floats.activated(largest, attrs.activation)
    return (clamp(largest, output, attrs.activation),)


def _greatest(attrs: MaxPool2DAttrs, data: Array, least: float) -> Array:
    """The greatest value of each window, at least ``least``, in the data's dtype."""
    rows, columns = attrs.axes(data.shape)
    shape = (len(data), rows.places, columns.places, data.shape[3])
    largest = np.full(shape, least, data.dtype)
    for _, places, cells in taps(rows, columns):
        # fmax ignores NaN; maximum would keep it.
        largest[places] = np.fmax(largest[places], data[cells])
    return largest


def _max_pool2d_grown(attrs: MaxPool2DAttrs, inexact: Inexact) -> Array:
    """The greatest error in each window."""
    return _greatest(attrs, inexact.errors[0], 0.0)


MAX_POOL2D = OpDefinition(
    "nn.max_pool2d",
    MaxPool2DAttrs,
    _infer("nn.max_pool2d"),
    _max_pool2d_check,
    _max_pool2d_reference,
    layer,
    cost=cost,
    bound=bounds.elementwise(_max_pool2d_grown, roundings=0),
)


OPS = (AVG_POOL2D, MAX_POOL2D)
