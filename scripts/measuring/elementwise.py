"""Layers without weights that several kernels can compute: sums, products, other scales."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType, Node, Quant
from microgen.graph.ops.elementwise.addition import (
    AddAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
)
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.elementwise.rescaled import (
    RescaledAddAttrs,
    RescaledMultiplyAttrs,
    RescaledSubtractAttrs,
)
from microgen.graph.ops.quantization.rescale import RequantizeAttrs
from scripts.measuring.builder import DATA, OTHER, Builder

_ATTRS = {"add": AddAttrs, "subtract": SubtractAttrs, "multiply": MultiplyAttrs}
_RESCALED = {
    "qnn.add": RescaledAddAttrs,
    "qnn.subtract": RescaledSubtractAttrs,
    "qnn.mul": RescaledMultiplyAttrs,
}
_SCALES = {"add": 0.8713, "subtract": 0.8713, "multiply": 0.1713}


def pair(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    op: str,
    lhs: Sequence[int],
    rhs: Sequence[int],
    activation: Activation = Activation.NONE,
    in_float32: bool = False,
    scale: float = 0,
) -> Node:
    """add, subtract or multiply of two tensors with different scales, whose shapes may differ. The
    output has the given scale, or a usual one."""
    inputs = (b.data(dtype, *lhs), b.rescaled(b.data(dtype, *rhs)))
    attrs = _ATTRS[op](activation, in_float32=in_float32)
    return b.node(op, attrs, *inputs, dtype=dtype, quant=Quant((scale or _SCALES[op],), (-4,)))


def squared_difference(
    b: Builder, dtype: DType, _bits: int, *, lhs: Sequence[int], rhs: Sequence[int]
) -> Node:
    """squared_difference of two tensors with different scales, whose shapes may differ."""
    inputs = (b.data(dtype, *lhs), b.rescaled(b.data(dtype, *rhs)))
    attrs = SquaredDifferenceAttrs()
    return b.node("squared_difference", attrs, *inputs, dtype=dtype, quant=Quant((3.1713,), (-4,)))


def rescaled(
    b: Builder, dtype: DType, _bits: int, *, op: str, lhs: Sequence[int], rhs: Sequence[int]
) -> Node:
    """qnn.add, qnn.subtract or qnn.mul."""
    inputs = (b.data(dtype, *lhs), b.data(dtype, *rhs))
    scales = (DATA.scale[0], DATA.zero_point[0], OTHER.scale[0], OTHER.zero_point[0], 0.8713, -4)
    return b.node(op, _RESCALED[op](*scales, Rounding.UPWARD), *inputs, dtype=dtype)


def to_uint8(b: Builder, dtype: DType, _bits: int, *, size: int, moved: int) -> Node:
    """int8 to uint8 with the same scale, and a zero point that is ``moved``."""
    quant = Quant(DATA.scale, (DATA.zero_point[0] + moved,))
    data = b.data(dtype, 1, size)
    return b.node("qnn.requantize", RequantizeAttrs(), data, dtype=DType.UINT8, quant=quant)
