"""qnn.subtract: Relay's subtraction of int8 tensors, with broadcasting; it rounds once."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.elementwise import broadcast, rescaled


@dataclass(frozen=True, slots=True)
class RescaledSubtractAttrs(rescaled.RescaledAttrs):
    """See RescaledAttrs."""


def reference(attrs: RescaledSubtractAttrs, operands: Operands) -> tuple[Array, ...]:
    """See ``rescaled.sums``."""
    return rescaled.sums(attrs, operands, -1)


def parts(_attrs: Attrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("qnn_subtract",)


OP = Op(
    "qnn.subtract", RescaledSubtractAttrs, broadcast.infer, rescaled.check_sum, reference, parts
)
