"""Relay's qnn.add, qnn.subtract and qnn.mul: operands and result have scales and zero points, which
are attributes. The quantization of the tensors is ignored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import RELAY, multiply_by_quantized_multiplier
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops.base import Check, OpDefinition, Operands, Reference
from microgen.graph.ops.constraints import INT8, dtype_constraint, first_of, too_large_ratio
from microgen.graph.ops.elementwise import broadcast
from microgen.graph.ops.quantization.rescale import ratio, scales_constraint, stored

Factor = tuple[int, int]  # multiplier and shift


@dataclass(frozen=True, slots=True)
class RescaledAttrs(Attrs):
    """Inputs: two int8 tensors of broadcastable shapes."""

    lhs_scale: float
    lhs_zero_point: int
    rhs_scale: float
    rhs_zero_point: int
    output_scale: float
    output_zero_point: int
    rounding: Rounding


def of_sum(attrs: RescaledAttrs) -> tuple[Factor, Factor]:
    """The factors from each operand's scale to the output's."""
    return ratio(attrs.lhs_scale, attrs.output_scale), ratio(attrs.rhs_scale, attrs.output_scale)


def of_product(attrs: RescaledAttrs) -> Factor:
    """The factor from the scale of products, which is itself a float32 product, to the output's.

    Source: TVM v0.14, src/relay/qnn/op/mul.cc, QnnMulCanonicalize.
    """
    with np.errstate(over="ignore", under="ignore"):
        product = float(np.float32(attrs.lhs_scale) * np.float32(attrs.rhs_scale))
    return ratio(product, attrs.output_scale)


def check_sum(attrs: RescaledAttrs, inputs: Types, outputs: Types) -> str | None:
    """int8, and ratios of scales that the fixed point can hold."""
    return _constraint(attrs, (*inputs, *outputs)) or too_large_ratio(of_sum, attrs)


def check_product(attrs: RescaledAttrs, inputs: Types, outputs: Types) -> str | None:
    """int8, and a ratio of scales that the fixed point can hold."""
    return _constraint(attrs, (*inputs, *outputs)) or too_large_ratio(of_product, attrs)


def _constraint(attrs: RescaledAttrs, tensors: Types) -> str | None:
    roles = zip(("left input", "right input", "output"), tensors, strict=True)
    if sentence := first_of(dtype_constraint(*each, INT8) for each in roles):
        return sentence
    if attrs.rounding not in RELAY:
        return f"values are rounded {attrs.rounding.value!r}; it must be 'upward' or 'nearest'"
    for zero_point in (attrs.lhs_zero_point, attrs.rhs_zero_point, attrs.output_zero_point):
        if not -128 <= zero_point <= 127:
            return f"a zero point is {zero_point}; it must be -128 to 127"
    return scales_constraint((attrs.lhs_scale, attrs.rhs_scale, attrs.output_scale))


def sums(attrs: RescaledAttrs, operands: Operands, sign: int) -> Arrays:
    """The left operand plus ``sign`` times the right one, each rounded in the output's scale.

    Source: TVM v0.14, src/relay/qnn/op/add.cc, subtract.cc: int32, modulo 2**32, then saturated.
    """
    left, right = (
        multiply_by_quantized_multiplier(x, *factor, attrs.rounding).astype(np.int64)
        for x, factor in zip(_centred(attrs, operands), of_sum(attrs), strict=True)
    )
    return (stored(left + sign * right, attrs.output_zero_point, DType.INT8),)


def products(attrs: RescaledAttrs, operands: Operands) -> Arrays:
    """The product of both operands, rounded in the output's scale.

    Source: TVM v0.14, src/relay/qnn/op/mul.cc, QnnMulCanonicalize.
    """
    left, right = _centred(attrs, operands)
    scaled = multiply_by_quantized_multiplier(left * right, *of_product(attrs), attrs.rounding)
    return (stored(scaled, attrs.output_zero_point, DType.INT8),)


def _centred(attrs: RescaledAttrs, operands: Operands) -> tuple[Array, Array]:
    lhs, rhs = (x.astype(np.int64) for x in operands.inputs)
    return lhs - attrs.lhs_zero_point, rhs - attrs.rhs_zero_point


class RescaledAddAttrs(RescaledAttrs):
    """See RescaledAttrs."""


class RescaledSubtractAttrs(RescaledAttrs):
    """See RescaledAttrs."""


class RescaledMultiplyAttrs(RescaledAttrs):
    """See RescaledAttrs."""


def _sum(name: str, attrs: type[RescaledAttrs], sign: int, what: str) -> OpDefinition:
    """The op that adds ``sign`` times the right operand."""
    return _op(name, attrs, check_sum, lambda attrs, operands: sums(attrs, operands, sign), what)


def _op(
    name: str, attrs: type[RescaledAttrs], check: Check, reference: Reference, what: str
) -> OpDefinition:
    about = f"Relay's {what} of int8 tensors, with broadcasting; it rounds once"
    return OpDefinition(name, attrs, broadcast.infer, check, reference, about=about)


OPS = (
    _sum("qnn.add", RescaledAddAttrs, 1, "addition"),
    _sum("qnn.subtract", RescaledSubtractAttrs, -1, "subtraction"),
    _op("qnn.mul", RescaledMultiplyAttrs, check_product, products, "multiplication"),
)
