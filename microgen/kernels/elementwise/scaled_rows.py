"""Kernels of rows for sums, differences and squared differences of int8 and int16 as TFLite rounds
them."""

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
# The same as multiplier and a shift to the right: the product of a value of at most 2**30 rounds to
# the value, which is even, or for -2**30 to the next one, whose half rounds to -2**29.
_HALF_SHIFTED = ((1 << 31) - 1, -1)
_MOST_RIGHT = 22  # bits that the kernels shift
_ROW_FIELDS = 6  # of ``broadcast.in_rows``
_INT16_LEFT = 15  # bits by which operands of int16 are shifted before they are scaled


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
    return _unfit_shifts(shift, p.output_shift)


def _unfit_shifts(operand: int, total: int) -> str | None:
    for name, found in (("operands", operand), ("sums", total)):
        if found not in range(-_MOST_RIGHT, 0):
            return f"{name} are shifted by {found} bits, the kernel shifts by -1 to -{_MOST_RIGHT}"
    return None


def _refusal_int16(node: Node, graph: Graph) -> str | None:
    if getattr(node.attrs, "in_float32", False):
        return base.Mismatch(base.Trait.ARITHMETIC, "it is computed in float32")
    refusal = base.only(DType.INT16)(node, graph) or broadcast.too_many_for_rows(node, graph)
    if refusal:
        return refusal
    operands, output = base.types(node, graph)
    if any(of.quant is None for of in (*operands, output)):
        return base.Mismatch(base.Trait.DTYPE, "it computes plain numbers")
    if any(of.zero_point for of in (*operands, output)):
        return "a zero point is not 0"
    fields = dict(broadcast.in_rows(node, graph))
    if fields["lhs_step"] * fields["rhs_step"] != 1:
        return "an operand has one value for a row, the kernel takes as many as a row has"
    p, (_, _, shift) = _parameters(node, graph), _scales(node, graph)
    halves = _HALF in ((p.lhs_multiplier, p.lhs_shift), (p.rhs_multiplier, p.rhs_shift))
    if p.left_shift != _INT16_LEFT or not halves:
        return "it adds by shifts, the kernel halves one operand and scales the other"
    return _unfit_shifts(shift, p.output_shift)


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_scaled_sum_rows_params``."""
    offsets = dict(broadcast.offsets(node, graph))
    fields = _params_int16(node, graph)
    of_rows, (chosen, *scales) = fields[:_ROW_FIELDS], fields[_ROW_FIELDS:]
    scaled, halved = ("rhs", "lhs") if chosen[1] else ("lhs", "rhs")
    return (
        *of_rows,
        chosen,
        ("scaled_offset", offsets[f"{scaled}_offset"]),
        ("halved_offset", offsets[f"{halved}_offset"]),
        ("output_offset", offsets["output_offset"]),
        *scales,
    )


def _params_int16(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_scaled_sum_rows_s16_params``."""
    output = graph.types[node.outputs[0]]
    p, (scales_rhs, multiplier, shift) = _parameters(node, graph), _scales(node, graph)
    activation: Activation = getattr(node.attrs, "activation", Activation.NONE)
    return (
        *broadcast.in_rows(node, graph),
        ("scales_rhs", int(scales_rhs)),
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


def int16_kernels(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_s16_mve`` and ``mg_<op>_rows_s16``."""
    # Those of differences have no costs, so that the first one that fits is taken.
    kinds = (
        ("s16_mve", "rows_s16_mve", base.MVE, broadcast.vector_work),
        ("rows_s16", "rows_s16", base.DSP, _work),
    )
    return tuple(
        dataclasses.replace(
            broadcast.row_kernel(f"mg_{op}_{suffix}", needs, _refusal_int16, _params_int16),
            work=counts,
            family=f"scaled_sum_{family}",
        )
        for suffix, family, needs, counts in kinds
    )
