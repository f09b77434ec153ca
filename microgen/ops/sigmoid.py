"""sigmoid: the logistic function 1 / (1 + exp(-x))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops import unary
from microgen.ops.base import Operands


@dataclass(frozen=True, slots=True)
class SigmoidAttrs(Attrs):
    """Input: int8 data of any rank. Output: int8 with scale 1/256."""


def check(
    attrs: SigmoidAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, the output in steps of 1/256."""
    sentence = unary.check(attrs, inputs, outputs)
    if sentence is None and outputs[0].scale != 1 / 256:
        return f"the output's scale is {outputs[0].scale:g}; it must be 1/256"
    return sentence


def reference(_attrs: SigmoidAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite activations.cc, SigmoidPrepare (a table computed in float32)."""
    exponential = unary.rounded(np.exp, -unary.dequantized(operands))
    one = np.float32(1)
    return unary.quantized(one / (one + exponential), operands.output_types[0])


OP = unary.define("sigmoid", SigmoidAttrs, reference, check)
