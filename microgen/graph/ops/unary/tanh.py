"""tanh: the hyperbolic tangent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import sigmoid16, unary

_ONE, _TWO = np.float32(1), np.float32(2)
_LARGE = np.float32(22)  # from here on tanh is 1 in float32


ULPS = 2  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


@dataclass(frozen=True, slots=True)
class TanhAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank. An int16 output has scale 2**-15."""


def _real(_attrs: TanhAttrs, x: Array) -> Array:
    return unary.rounded(np.tanh, x)


def _int8(_attrs: TanhAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite activations.cc, TanhPrepare (a table computed in float32)."""
    return unary.quantized(_tanhf(unary.dequantized(operands)), operands.output_types[0])


def _tanhf(x: Array) -> Array:
    """Tanh in float32 steps from expm1, with the method of glibc 2.36's tanhf, which LiteRT calls.

    Its last bit matters if an output scale that is a power of two has exact halves. There a
    correctly rounded tanh differs from LiteRT in one value of about 2,500 tables, this one in none.
    """
    magnitude = np.minimum(np.abs(x), _LARGE)
    large = _ONE - _TWO / (unary.rounded(np.expm1, _TWO * magnitude) + _TWO)
    fall = unary.rounded(np.expm1, -_TWO * magnitude)
    return np.copysign(np.where(magnitude >= 1, large, -fall / (fall + _TWO)), x)


def parameters(data: TensorType) -> sigmoid16.SigmoidParameters:
    """The parameters. Source: TFLite activations.cc, TanhPrepare: 2**-12 and 2**-11 are exact."""
    return sigmoid16.parameters(data, powers=(-12, -11))


def _int16(_attrs: TanhAttrs, operands: Operands) -> tuple[Array, ...]:
    x = sigmoid16.scaled(operands.inputs[0], parameters(operands.input_types[0]))
    return (of_steps(x),)


def of_steps(x: Array) -> Array:
    """2 sigmoid(2 x) - 1 as int16 with the scale 2**-15, for arguments x that ``sigmoid16.scaled``
    made. Source: TFLite reference/integer_ops/tanh.h."""
    magnitude = np.minimum(sigmoid16.interpolated(np.abs(x), 8), 0xFFFF << 8) - (1 << 23)
    rounded = np.where(x >= 0, magnitude + (1 << 7), -magnitude + (1 << 7) - 1)
    return (rounded >> 8).astype(np.int16)


def _constraint(_attrs: TanhAttrs, data: TensorType, output: TensorType) -> str | None:
    """For int16: a sentence if the output's scale is wrong or the input's does not fit."""
    if data.dtype is not DType.INT16:
        return None
    if sigmoid16.power_of_two(output.scale) != -15:
        return f"the output's scale is {output.scale:g}; it must be 2**-15"
    return sigmoid16.constraint(data)


OP = unary.define(
    "tanh", TanhAttrs, unary.Function(_real, _int8, int16=_int16, constraint=_constraint, ulps=ULPS)
)
