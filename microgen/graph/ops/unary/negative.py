"""negative: the stored values negated."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary import unary


@dataclass(frozen=True, slots=True)
class NegativeAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank.

    For integers, real values are negated only if both zero points are 0 and the scales are
    equal, because LiteRT ignores quantization here.
    """


def _quantized(_attrs: NegativeAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/neg.h, Negate, which does not change the least value."""
    return (-operands.inputs[0],)


def _real(_attrs: NegativeAttrs, x: Array) -> Array:
    return -x


OP = unary.define("negative", NegativeAttrs, unary.Function(_real, _quantized, int16=_quantized))
