"""Reductions of some axes to one value: sums, means, and whether all values are true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.int8 import (
    clamp,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shapes, one_input
from microgen.graph.ops.constraints import ALL_FAMILIES, activations_constraint, too_large_ratio


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


def infer(attrs: ReductionAttrs, inputs: Types) -> Shapes:
    """The input's shape without the axes, or with 1 in their place."""
    one_input("a reduction", inputs)
    shape = inputs[0].shape
    if list(attrs.axes) != sorted(set(attrs.axes)) or not set(attrs.axes) <= set(range(len(shape))):
        raise ValueError(f"the axes {list(attrs.axes)} are not ascending axes of {inputs[0]}")
    kept = [1 if axis in attrs.axes else size for axis, size in enumerate(shape)]
    if attrs.keep_dims:
        return (tuple(kept),)
    return (tuple(size for axis, size in enumerate(shape) if axis not in attrs.axes),)


def count(attrs: ReductionAttrs, data: ArrayType) -> int:
    """The number of input values for each output value."""
    return int(np.prod([data.shape[axis] for axis in attrs.axes], dtype=np.int64))


def terms(attrs: ReductionAttrs, operands: Operands) -> int:
    """The ``count`` of a node, from its operands."""
    return count(attrs, operands.input_types[0])


def greatest_error(attrs: ReductionAttrs, inexact: Inexact) -> Array:
    """The greatest error among the values."""
    return np.asarray(inexact.errors[0].max(axis=attrs.axes, keepdims=attrs.keep_dims, initial=0))


def sum_parameters(data: ArrayType, output: ArrayType) -> SumParameters:
    """The parameters. Source: TFLite reduce.cc, PrepareMeanOrSum (the division is in double).

    ValueError if the ratio of scales is 2**30 or more.
    """
    scale_in, scale_out = float(np.float32(data.scale)), float(np.float32(output.scale))
    return SumParameters(*quantize_multiplier(scale_in / scale_out))


def mean_parameters(data: ArrayType, output: ArrayType, n: int) -> SumParameters:
    """``sum_parameters`` with the division by ``n`` folded in.

    Source: TFLite reference/reduce.h, QuantizedMeanOrSum, whose division truncates.
    """
    whole = sum_parameters(data, output)
    # As many bits as the truncating division takes away are shifted in before it.
    up = min(n.bit_length() - 1, 32, 31 + whole.shift)
    return SumParameters((whole.multiplier << up) // n, whole.shift - up)


def scaled_sums(
    attrs: ReductionAttrs, data: Array, data_type: ArrayType, scale: SumParameters
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
    attrs: ReductionAttrs, data: Array, data_type: ArrayType, output: ArrayType
) -> Array:
    """Means of real values in the output's scale, before its zero point is added; int64. Sums are
    exact, and scaled by ``in_float32.scale_of_mean``."""
    n = count(attrs, data_type)
    centred = data.astype(np.int64) - data_type.zero_point
    sums = centred.sum(axis=attrs.axes, keepdims=attrs.keep_dims)
    return in_float32.scaled(sums, in_float32.scale_of_mean(data_type, output, n))


def in_float32_constraint(attrs: ReductionAttrs, data: ArrayType) -> str | None:
    """The data must be int8, and its sums must fit int32."""
    if data.dtype is not DType.INT8:
        return f"the input is {data}; means are scaled in float32 for int8 only"
    n = count(attrs, data)
    if n * 255 < 2**31:
        return None
    return f"{n} values are summed, which may reach {n * 255}; the accumulator is int32"


def sums_constraint(
    attrs: ReductionAttrs, data: ArrayType, output: ArrayType, *, largest: int, is_mean: bool
) -> str | None:
    """Sums of quantized values that differ from the zero point by at most ``largest`` must fit
    int32."""
    n = count(attrs, data)
    if sentence := too_large_ratio(sum_parameters, data, output):
        return sentence
    scale = mean_parameters(data, output, n) if is_mean else sum_parameters(data, output)
    # DOUBLE shifts to the left before it multiplies, so the shifted sum must fit int32.
    if (n * largest) << max(scale.shift, 0) >= 2**31:
        return (
            f"{n} values are summed, which may reach {n * largest}; scaled to the output's scale "
            "they exceed int32"
        )
    return None


class AllAttrs(ReductionAttrs):
    """all: whether every value over some axes is true.

    Input: bool data of any rank.
    """


def _all_check(_attrs: AllAttrs, inputs: Types, outputs: Types) -> str | None:
    """All tensors are bool."""
    return activations_constraint(inputs[0], outputs[0], (DType.BOOL,))


def _all_reference(attrs: AllAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reduce.cc, EvalGeneric.
    reduced = np.all(operands.inputs[0], axis=attrs.axes, keepdims=attrs.keep_dims)
    return (np.asarray(reduced),)


ALL = OpDefinition("all", AllAttrs, infer, _all_check, _all_reference)


@dataclass(frozen=True, slots=True)
class MeanAttrs(ReductionAttrs):
    """mean: the average over some axes.

    Input: int8, int16 or float32 data of any rank. The output may have another quantization.

    With ``in_float32``, sums of int8 are scaled in float32 (``in_float32.scale_of_mean``). ``rows``
    are those of the whole data if the input is a few rows of it, which kernels add to sums; 0: the
    input is whole. Only layers that are computed row by row have them.
    """

    in_float32: bool = False
    rows: int = 0


def _mean_check(attrs: MeanAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype, and sums of integers that fit int32."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output, ALL_FAMILIES)
    if sentence or floats.is_float(data):
        return sentence
    if attrs.in_float32:
        return in_float32_constraint(attrs, data)
    largest = 255 if data.dtype is DType.INT8 else 2**15
    return sums_constraint(attrs, data, output, largest=largest, is_mean=True)


def _mean_reference(attrs: MeanAttrs, operands: Operands) -> Arrays:
    # Source of the integer form: TFLite reference/reduce.h, QuantizedMeanOrSum with compute_sum
    # false.
    data, output = operands.input_types[0], operands.output_types[0]
    if floats.is_float(data):
        sums = floats.sums(operands.inputs[0], attrs.axes, keep_dims=attrs.keep_dims)
        return (sums / np.float32(count(attrs, data)),)
    if attrs.in_float32:
        means = scaled_in_float32(attrs, operands.inputs[0], data, output)
        return (clamp(means + output.zero_point, output, Activation.NONE),)
    scale = mean_parameters(data, output, count(attrs, data))
    scaled = scaled_sums(attrs, operands.inputs[0], data, scale)
    return (clamp(scaled + output.zero_point, output, Activation.NONE),)


MEAN = OpDefinition(
    "mean",
    MeanAttrs,
    infer,
    _mean_check,
    _mean_reference,
    bound=bounds.sums(_mean_reference, terms),
)


@dataclass(frozen=True, slots=True)
class SumAttrs(ReductionAttrs):
    """sum: the total over some axes.

    Input: int8, int16, int32 or float32 data of any rank. A quantized output may have another
    quantization; sums of int32 are modulo 2**32.

    With ``is_unsigned``, for quantized data, the bytes of data and output are read as uint8, while
    zero points are unchanged. LiteRT 2.3.0 does this (reduce.cc, EvalSum, found by experiment),
    which is useless for int16. TFLite Micro does not.
    """

    is_unsigned: bool = False


def _sum_check(attrs: SumAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype, and sums of quantized values that fit int32."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output, (*ALL_FAMILIES, DType.INT32))
    if sentence or data.quant is None:
        return sentence
    if data.dtype is DType.INT16:
        if attrs.is_unsigned:
            return "LiteRT sums the bytes of int16, which is useless"
        return sums_constraint(attrs, data, output, largest=2**15, is_mean=False)
    # Bytes are 0 to 255, and their zero point is -128 to 127.
    largest = 255 + 128 if attrs.is_unsigned else 255
    return sums_constraint(attrs, data, output, largest=largest, is_mean=False)


def _sum_reference(attrs: SumAttrs, operands: Operands) -> Arrays:
    # Source of the quantized form: TFLite reference/reduce.h, QuantizedMeanOrSum with compute_sum
    # true.
    data, output = operands.input_types[0], operands.output_types[0]
    if floats.is_float(data):
        sums = floats.sums(operands.inputs[0], attrs.axes, keep_dims=attrs.keep_dims)
        return (floats.rounded(sums),)
    if data.quant is None:
        total = operands.inputs[0].sum(attrs.axes, np.int64, keepdims=attrs.keep_dims)
        return (np.asarray(total).astype(np.int32),)
    dtype = np.dtype(np.uint8) if attrs.is_unsigned else data.dtype.numpy
    values = operands.inputs[0].view(dtype)
    scaled = scaled_sums(attrs, values, data, sum_parameters(data, output))
    limits = np.iinfo(dtype)
    stored = np.clip(scaled + output.zero_point, limits.min, limits.max).astype(dtype)
    return (np.asarray(stored).view(output.dtype.numpy),)


SUM = OpDefinition(
    "sum", SumAttrs, infer, _sum_check, _sum_reference, bound=bounds.sums(_sum_reference, terms)
)


OPS = (ALL, MEAN, SUM)
