"""Shared by mean, sum, max, min and all: some axes of the input become one value each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.int8 import multiply_by_quantized_multiplier, quantize_multiplier
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Inexact, Operands, Shape, one_input


@dataclass(frozen=True, slots=True)
class ReductionAttrs(Attrs):
    """``axes`` are counted from the front, ascending, each once. With ``keep_dims`` they are kept
    with size 1."""

    axes: tuple[int, ...]
    keep_dims: bool


@dataclass(frozen=True, slots=True)
class SumParameters:
    """Fixed-point factor from a sum in the input's scale to the output's scale."""

    multiplier: int
    shift: int


def infer(attrs: ReductionAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape without the axes, or with 1 in their place."""
    one_input("a reduction", inputs)
    shape = inputs[0].shape
    if list(attrs.axes) != sorted(set(attrs.axes)) or not set(attrs.axes) <= set(range(len(shape))):
        raise ValueError(f"the axes {list(attrs.axes)} are not ascending axes of {inputs[0]}")
    kept = [1 if axis in attrs.axes else size for axis, size in enumerate(shape)]
    if attrs.keep_dims:
        return (tuple(kept),)
    return (tuple(size for axis, size in enumerate(shape) if axis not in attrs.axes),)


def count(attrs: ReductionAttrs, data: TensorType) -> int:
    """The number of input values for each output value."""
    return int(np.prod([data.shape[axis] for axis in attrs.axes], dtype=np.int64))


def terms(attrs: ReductionAttrs, operands: Operands) -> int:
    """The ``count`` of a node, from its operands."""
    return count(attrs, operands.input_types[0])


def greatest_error(attrs: ReductionAttrs, given: Inexact) -> Array:
    """The greatest error among the values."""
    error: Array = given.errors[0].max(axis=attrs.axes, keepdims=attrs.keep_dims, initial=0)
    return error


def sum_parameters(data: TensorType, output: TensorType) -> SumParameters:
    """The parameters. Source: TFLite reduce.cc, PrepareMeanOrSum (the division is in double).

    ValueError if the ratio of scales is 2**30 or more.
    """
    scale_in, scale_out = float(np.float32(data.scale)), float(np.float32(output.scale))
    return SumParameters(*quantize_multiplier(scale_in / scale_out))


def mean_parameters(data: TensorType, output: TensorType, n: int) -> SumParameters:
    """``sum_parameters`` with the division by ``n`` folded in.

    Source: TFLite reference/reduce.h, QuantizedMeanOrSum, whose division truncates.
    """
    whole = sum_parameters(data, output)
    up = min(n.bit_length() - 1, 32, 31 + whole.shift)
    return SumParameters((whole.multiplier << up) // n, whole.shift - up)


def scaled_sums(
    attrs: ReductionAttrs, data: Array, data_type: TensorType, scale: SumParameters
) -> Array:
    """Sums of real values in the output's scale, before its zero point is added; int64.

    Source: TFLite reference/reduce.h, QuantizedMeanOrSum. ``data`` is read in its own dtype.
    """
    sums = data.astype(np.int64).sum(axis=attrs.axes, keepdims=attrs.keep_dims)
    centred = sums - data_type.zero_point * count(attrs, data_type)
    rounded = multiply_by_quantized_multiplier(
        centred, scale.multiplier, scale.shift, Rounding.DOUBLE
    )
    return rounded.astype(np.int64)


def scaled_in_float32(
    attrs: ReductionAttrs, data: Array, data_type: TensorType, output: TensorType
) -> Array:
    """Means of real values in the output's scale, before its zero point is added; int64. Sums are
    exact, and scaled by ``in_float32.scale_of_mean``."""
    n = count(attrs, data_type)
    centred = data.astype(np.int64) - data_type.zero_point
    sums = centred.sum(axis=attrs.axes, keepdims=attrs.keep_dims)
    return in_float32.scaled(sums, in_float32.scale_of_mean(data_type, output, n))


def in_float32_constraint(attrs: ReductionAttrs, data: TensorType) -> str | None:
    """int8, whose sums fit int32."""
    if data.dtype is not DType.INT8:
        return f"the input is {data}; means are scaled in float32 for int8 only"
    n = count(attrs, data)
    if n * 255 < 2**31:
        return None
    return f"{n} values are summed, which may reach {n * 255}; the accumulator is int32"


def sums_constraint(
    attrs: ReductionAttrs, data: TensorType, output: TensorType, *, largest: int, is_mean: bool
) -> str | None:
    """Quantized: sums of values that are up to ``largest`` from the zero point fit int32."""
    n = count(attrs, data)
    try:
        scale = mean_parameters(data, output, n) if is_mean else sum_parameters(data, output)
    except ValueError as error:
        return f"the output's scale is too small for the input's: {error}"
    if (n * largest) << max(scale.shift, 0) >= 2**31:
        return (
            f"{n} values are summed, which may reach {n * largest}; scaled to the output's scale "
            "they exceed int32"
        )
    return None
