"""sum: the total over some axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.constraints import ALL_FAMILIES, activations_constraint
from microgen.graph.ops.reductions.reduction import (
    ReductionAttrs,
    infer,
    scaled_sums,
    sum_parameters,
    sums_constraint,
    terms,
)


@dataclass(frozen=True, slots=True)
class SumAttrs(ReductionAttrs):
    """Input: int8, int16, int32 or float32 data of any rank. A quantized output may have another
    quantization; sums of int32 are modulo 2**32.

    With ``is_unsigned``, for quantized data, the bytes of data and output are read as uint8, while
    zero points are unchanged. LiteRT 2.3.0 does this (reduce.cc, EvalSum, found by experiment),
    which is useless for int16. TFLite Micro does not.
    """

    is_unsigned: bool = False


def check(
    attrs: SumAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype, and sums of quantized values that fit int32."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output, (*ALL_FAMILIES, DType.INT32))
    if sentence or data.quant is None:
        return sentence
    if data.dtype is DType.INT16:
        if attrs.is_unsigned:
            return "LiteRT sums the bytes of int16, which is useless; generate with --numerics tflm"
        return sums_constraint(attrs, data, output, largest=2**15, is_mean=False)
    largest = 255 + 128 if attrs.is_unsigned else 255
    return sums_constraint(attrs, data, output, largest=largest, is_mean=False)


def reference(attrs: SumAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the quantized form: TFLite reference/reduce.h, QuantizedMeanOrSum with
    compute_sum true."""
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


def parts(_attrs: SumAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("sum",)


OP = Op("sum", SumAttrs, infer, check, reference, parts, bound=bounds.sums(reference, terms))
