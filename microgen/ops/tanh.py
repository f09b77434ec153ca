"""tanh: the hyperbolic tangent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs
from microgen.ops import unary
from microgen.ops.base import Operands

_ONE, _TWO = np.float32(1), np.float32(2)
_LARGE = np.float32(22)  # from here on tanh is 1 in float32


@dataclass(frozen=True, slots=True)
class TanhAttrs(Attrs):
    """Input: int8 data of any rank."""


def reference(_attrs: TanhAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite activations.cc, TanhPrepare (a table computed in float32)."""
    return unary.quantized(_tanhf(unary.dequantized(operands)), operands.output_types[0])


def _tanhf(x: Array) -> Array:
    """Tanh in float32 steps from expm1, the method of glibc 2.36's tanhf, which LiteRT calls.

    Its last bit decides where an output scale that is a power of two has exact halves: a tanh
    that is rounded correctly differs there in one value of some 2,500 tables, this in none.
    """
    magnitude = np.minimum(np.abs(x), _LARGE)
    large = _ONE - _TWO / (unary.rounded(np.expm1, _TWO * magnitude) + _TWO)
    fall = unary.rounded(np.expm1, -_TWO * magnitude)
    return np.copysign(np.where(magnitude >= 1, large, -fall / (fall + _TWO)), x)


OP = unary.define("tanh", TanhAttrs, reference)
