"""mean: the average over some axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import clamp
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.constraints import ALL_FAMILIES, activations_constraint
from microgen.graph.ops.reductions import reduction
from microgen.graph.ops.reductions.reduction import (
    ReductionAttrs,
    count,
    in_float32_constraint,
    infer,
    mean_parameters,
    scaled_sums,
    sums_constraint,
    terms,
)


@dataclass(frozen=True, slots=True)
class MeanAttrs(ReductionAttrs):
    """Input: int8, int16 or float32 data of any rank. The output may have another quantization.

    With ``in_float32``, sums of int8 are scaled in float32 (``in_float32.scale_of_mean``).
    """

    in_float32: bool = False


def check(
    attrs: MeanAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype, and sums of integers that fit int32."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output, ALL_FAMILIES)
    if sentence or floats.is_float(data):
        return sentence
    if attrs.in_float32:
        return in_float32_constraint(attrs, data)
    largest = 255 if data.dtype is DType.INT8 else 2**15
    return sums_constraint(attrs, data, output, largest=largest, is_mean=True)


def reference(attrs: MeanAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the integer form: TFLite reference/reduce.h, QuantizedMeanOrSum with compute_sum
    false."""
    data, output = operands.input_types[0], operands.output_types[0]
    if floats.is_float(data):
        sums = floats.sums(operands.inputs[0], attrs.axes, keep_dims=attrs.keep_dims)
        return (sums / np.float32(count(attrs, data)),)
    if attrs.in_float32:
        found = reduction.scaled_in_float32(attrs, operands.inputs[0], data, output)
        return (clamp(found + output.zero_point, output, Activation.NONE),)
    scale = mean_parameters(data, output, count(attrs, data))
    scaled = scaled_sums(attrs, operands.inputs[0], data, scale)
    return (clamp(scaled + output.zero_point, output, Activation.NONE),)


def parts(_attrs: MeanAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("mean",)


OP = Op("mean", MeanAttrs, infer, check, reference, parts, bound=bounds.sums(reference, terms))
