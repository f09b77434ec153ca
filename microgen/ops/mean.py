"""mean: the average over some axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, TensorType
from microgen.ops.base import Op, Operands
from microgen.ops.reduction import (
    ReductionAttrs,
    count,
    infer,
    mean_parameters,
    scaled_sums,
    sums_constraint,
)


@dataclass(frozen=True, slots=True)
class MeanAttrs(ReductionAttrs):
    """Input: int8 data of any rank. The output may have another quantization."""


def check(
    attrs: MeanAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, and sums that fit int32."""
    return sums_constraint(attrs, inputs[0], outputs[0], largest=255, is_mean=True)


def reference(attrs: MeanAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/reduce.h, QuantizedMeanOrSum with compute_sum false."""
    data, output = operands.input_types[0], operands.output_types[0]
    scale = mean_parameters(data, output, count(attrs, data))
    scaled = scaled_sums(attrs, operands.inputs[0], data, scale)
    return (np.clip(scaled + output.zero_point, -128, 127).astype(np.int8),)


def parts(_attrs: MeanAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("mean",)


OP = Op("mean", MeanAttrs, infer, check, reference, parts)
