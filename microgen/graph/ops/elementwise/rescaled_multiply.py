"""qnn.mul: Relay's multiplication of int8 tensors, with broadcasting; it rounds once."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.elementwise import broadcast, rescaled


@dataclass(frozen=True, slots=True)
class RescaledMultiplyAttrs(rescaled.RescaledAttrs):
    """See RescaledAttrs."""


def reference(attrs: RescaledMultiplyAttrs, operands: Operands) -> tuple[Array, ...]:
    """See ``rescaled.products``."""
    return rescaled.products(attrs, operands)


def parts(_attrs: Attrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("qnn_mul",)


OP = Op("qnn.mul", RescaledMultiplyAttrs, broadcast.infer, rescaled.check_product, reference, parts)
