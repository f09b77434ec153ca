"""negative: the stored values negated."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.ir.graph import Array, Attrs
from microgen.ops import unary
from microgen.ops.base import Operands


@dataclass(frozen=True, slots=True)
class NegativeAttrs(Attrs):
    """Input: int8 data of any rank.

    Real values are negated only where both zero points are 0 and the scales are equal, because
    LiteRT pays no attention to them.
    """


def reference(_attrs: NegativeAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/neg.h, Negate, on int8: -128 stays -128."""
    return (-operands.inputs[0],)


OP = unary.define("negative", NegativeAttrs, reference)
