"""sum: the total over some axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, TensorType
from microgen.ops.base import Op, Operands
from microgen.ops.reduction import (
    ReductionAttrs,
    infer,
    scaled_sums,
    sum_parameters,
    sums_constraint,
)


@dataclass(frozen=True, slots=True)
class SumAttrs(ReductionAttrs):
    """Input: int8 data of any rank. The output may have another quantization.

    ``is_unsigned``: the bytes of data and output are taken for uint8, zero points as they are.
    So does LiteRT 2.3.0 (reduce.cc, EvalSum, found by experiment); TFLite Micro does not.
    """

    is_unsigned: bool = False


def check(
    attrs: SumAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, and sums that fit int32."""
    largest = 255 + 128 if attrs.is_unsigned else 255
    return sums_constraint(attrs, inputs[0], outputs[0], largest=largest, is_mean=False)


def reference(attrs: SumAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/reduce.h, QuantizedMeanOrSum with compute_sum true."""
    data, output = operands.input_types[0], operands.output_types[0]
    dtype = np.dtype(np.uint8 if attrs.is_unsigned else np.int8)
    values = operands.inputs[0].view(dtype)
    scaled = scaled_sums(attrs, values, data, sum_parameters(data, output))
    limits = np.iinfo(dtype)
    stored = np.clip(scaled + output.zero_point, limits.min, limits.max).astype(dtype)
    return (np.asarray(stored).view(np.int8),)


def parts(_attrs: SumAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("sum",)


OP = Op("sum", SumAttrs, infer, check, reference, parts)
