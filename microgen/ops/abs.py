"""abs: the magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops import unary
from microgen.ops.base import Operands
from microgen.quantize import quantize_multiplier


@dataclass(frozen=True, slots=True)
class AbsAttrs(Attrs):
    """Input: int8 data of any rank."""


def check(
    attrs: AbsAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, and a ratio of scales that the fixed point can hold."""
    sentence = unary.check(attrs, inputs, outputs)
    if sentence:
        return sentence
    try:
        _multiplier(inputs[0], outputs[0])
    except ValueError as error:
        return f"the output's scale is too small for the input's: {error}"
    return None


def _multiplier(data: TensorType, output: TensorType) -> tuple[int, int]:
    """Where the scales are equal the multiplier is 1, which changes no value."""
    return quantize_multiplier(float(np.float32(data.scale) / np.float32(output.scale)))


def reference(_attrs: AbsAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite elementwise.cc, AbsEvalQuantized."""
    data, output = operands.input_types[0], operands.output_types[0]
    return unary.requantized(np.abs(unary.centred(operands)), *_multiplier(data, output), output)


OP = unary.define("abs", AbsAttrs, reference, check)
