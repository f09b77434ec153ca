"""What the ops of one int8 tensor that work value by value share.

Such an op is a function of 256 values. It has no kernel: ``passes/tabulate.py`` makes it a
``lookup``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops.base import Activation, Op, Operands, Rounding, Shape
from microgen.ops.constraints import activations_constraint
from microgen.quantize import clamp, multiply_by_quantized_multiplier, offset_and_clamp

Check = Callable[[Any, Sequence[TensorType], Sequence[TensorType]], str | None]
Reference = Callable[[Any, Operands], tuple[Array, ...]]


def check(_attrs: Attrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> str | None:
    """int8, each with one scale and zero point."""
    return activations_constraint(inputs[0], outputs[0])


def define(name: str, attrs: type[Attrs], reference: Reference, check: Check = check) -> Op:
    """The op of that name: one input, the output of the input's shape."""

    def infer(_attrs: Attrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
        if len(inputs) != 1:
            raise ValueError(f"{name} has {len(inputs)} inputs; one is expected")
        return (inputs[0].shape,)

    def parts(_attrs: Attrs, _n_inputs: int) -> tuple[str, ...]:
        return (name.replace(".", "_"),)

    return Op(name, attrs, infer, check, reference, parts, is_tabulated=True)


def centred(operands: Operands) -> Array:
    """The stored values of the input less its zero point, int64."""
    values: Array = operands.inputs[0].astype(np.int64) - operands.input_types[0].zero_point
    return values


def dequantized(operands: Operands) -> Array:
    """The input's real values as TFLite has them, float32."""
    return np.float32(operands.input_types[0].scale) * centred(operands).astype(np.float32)


def rounded(function: Callable[[Array], Array], x: Array) -> Array:
    """``function`` of float32 values, computed in double and rounded to float32.

    This is what a libm that rounds correctly gives, and what glibc's gives but for rare last bits.
    """
    with np.errstate(over="ignore", divide="ignore"):
        values: Array = function(x.astype(np.float64)).astype(np.float32)
    return values


def quantized(real: Array, output: TensorType) -> tuple[Array, ...]:
    """float32 values as the output stores them: halves away from zero, then saturated.

    Source: TFLite activations.cc, PopulateLookupTable, and common.h, LUTPopulate, which multiply
    by the float32 reciprocal of the scale.
    """
    with np.errstate(over="ignore"):
        scaled = real * (np.float32(1) / np.float32(output.scale))
    limited = np.clip(scaled, -1024, 1024)  # far outside of int8, so that halves are exact
    stored = np.copysign(np.floor(np.abs(limited).astype(np.float64) + 0.5), limited)
    return (clamp(stored.astype(np.int64) + output.zero_point, output, Activation.NONE),)


def requantized(x: Array, multiplier: int, shift: int, output: TensorType) -> tuple[Array, ...]:
    """int32 values scaled with double rounding, offset and clamped."""
    scaled = multiply_by_quantized_multiplier(x, multiplier, shift, Rounding.DOUBLE)
    return (offset_and_clamp(scaled, output, Activation.NONE),)
