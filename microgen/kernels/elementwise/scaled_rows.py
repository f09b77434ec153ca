"""Kernels of rows for sums, differences and squared differences of int8 as TFLite rounds them."""

from __future__ import annotations

import dataclasses

from microgen.graph.arithmetic.int8 import AddParameters
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.addition import (
    AdditionAttrs,
    parameters,
    squared_difference_parameters,
)
from microgen.kernels import base
from microgen.kernels.elementwise import affine, broadcast, pairs
from microgen.kernels.work import Work, work

_HALF = (1 << 30, 0)  # multiplier and shift that halve
# The same as multiplier and a shift to the right: the product of a value of at most 2**29 rounds to
# the value, which is even.
_HALF_SHIFTED = ((1 << 31) - 1, -1)
_MOST_RIGHT = 22  # bits that the kernels shift


def _parameters(node: Node, graph: Graph) -> AddParameters:
    (lhs, rhs), output = base.types(node, graph)
    if isinstance(node.attrs, AdditionAttrs):
        return parameters(node.attrs, lhs, rhs, output)
    return squared_difference_parameters(lhs, rhs, output)


def _scales(node: Node, graph: Graph) -> tuple[bool, int, int]:
    """Whether the right operand is the one that is scaled, its multiplier and its shift."""
    p = _parameters(node, graph)
    lhs, rhs = (p.lhs_multiplier, p.lhs_shift), (p.rhs_multiplier, p.rhs_shift)
    scales_rhs = lhs == _HALF
    scaled = rhs if scales_rhs else lhs
    return scales_rhs, *(_HALF_SHIFTED if scaled == _HALF else scaled)


def _refusal(node: Node, graph: Graph) -> str | None:
    if getattr(node.attrs, "in_float32", False):
        return base.Mismatch(base.Trait.ARITHMETIC, "it is computed in float32")
    refusal = base.only(DType.INT8)(node, graph) or broadcast.too_many_for_rows(node, graph)
    if refusal:
        return refusal
    p, (_, _, shift) = _parameters(node, graph), _scales(node, graph)
    of = pairs.pair(node, graph)
    if isinstance(node.attrs, AdditionAttrs) and of and affine.proven_form(of):
        return "an affine function of both values is exact for all pairs, and takes less"
    for name, found in (("operands", shift), ("sums", p.output_shift)):
        if found not in range(-_MOST_RIGHT, 0):
            return f"{name} are shifted by {found} bits, the kernel shifts by -1 to -{_MOST_RIGHT}"
    return None


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_scaled_sum_rows_params``."""
    output = graph.types[node.outputs[0]]
    p, (scales_rhs, multiplier, shift) = _parameters(node, graph), _scales(node, graph)
    offsets = dict(broadcast.offsets(node, graph))
    scaled, halved = ("rhs", "lhs") if scales_rhs else ("lhs", "rhs")
    activation: Activation = getattr(node.attrs, "activation", Activation.NONE)
    return (
        *broadcast.in_rows(node, graph),
        ("scales_rhs", int(scales_rhs)),
        ("scaled_offset", offsets[f"{scaled}_offset"]),
        ("halved_offset", offsets[f"{halved}_offset"]),
        ("output_offset", offsets["output_offset"]),
        ("multiplier", multiplier),
        ("shift", shift),
        ("output_multiplier", p.output_multiplier),
        ("output_shift", p.output_shift),
        *base.activation_fields(activation, output),
    )


def _work(node: Node, graph: Graph) -> Work:
    """Elements, rows, and elements that an activation clamps."""
    counted = work(node, graph)
    rows = dict(broadcast.in_rows(node, graph))["rows"]
    return {
        "call": 1,
        "output": counted["output"],
        "row": rows - 1,
        "clamped": counted["clamped"],
    }


def kernels(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_rows_s8`` and ``mg_<op>_s8_mve``."""
    rows = broadcast.row_kernel(f"mg_{op}_rows_s8", base.DSP, _refusal, _params)
    vectors = broadcast.row_kernel(f"mg_{op}_s8_mve", base.MVE, _refusal, _params)
    return (
        dataclasses.replace(rows, work=_work, family="scaled_sum_rows_s8"),
        dataclasses.replace(vectors, work=broadcast.vector_work, family="scaled_sum_rows_s8_mve"),
    )
