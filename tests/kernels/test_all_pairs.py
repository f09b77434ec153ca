"""Kernels of two int8 operands equal the references for all 65,536 pairs of values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops.elementwise.addition import (
    AddAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
)
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.elementwise.rescaled import RescaledAttrs
from tests.kernels.conformance import conformance as c
from tests.qemu.mve_elementwise import INEXACT

COUNT = 8  # cases of each op
ZEROS = (-128, 127, 0)
VALUES = np.arange(-128, 128, dtype=np.int8)
OPS = (
    *("add", "subtract", "squared_difference", "multiply"),
    *("qnn.add", "qnn.subtract", "qnn.mul"),
)
PRODUCTS = ("multiply", "qnn.mul", "squared_difference")
CHEAPER = {
    *("mg_affine_sum_s8", "mg_scaled_product_s8", "mg_multiply_s8_rows"),
    *("mg_add_rows_s8", "mg_subtract_rows_s8", "mg_squared_difference_rows_s8"),
}


def _attrs(op: str, seed: int, scales: list[float], zeros: list[int]) -> Attrs:
    activation = list(Activation)[seed % 4]
    if op.startswith("qnn."):
        rounding = (Rounding.UPWARD, Rounding.NEAREST)[seed % 2]
        return RescaledAttrs(
            *(scales[0], zeros[0]), *(scales[1], zeros[1]), *(scales[2], zeros[2]), rounding
        )
    if op == "squared_difference":
        return SquaredDifferenceAttrs()
    kinds = {"add": AddAttrs, "subtract": SubtractAttrs, "multiply": MultiplyAttrs}
    return kinds[op](activation)


def _case(op: str, seed: int) -> c.Case:
    """Every pair. The first operand changes along the rows, or along the elements of a row."""
    rng = np.random.default_rng(seed)
    scales = [float(np.float32(s)) for s in 2.0 ** rng.uniform(-6, 0, 2)]
    # qnn rounds each operand, so other scales have no form. Else such operands are both halved.
    if op in ("qnn.add", "qnn.subtract") or seed % 4 == 0:
        scales = [scales[0], scales[0]]
    usual = scales[0] * scales[1] * 64 if op in PRODUCTS else sum(scales) / 2
    output = scales[0] if op in ("qnn.add", "qnn.subtract") else usual * 2.0 ** rng.uniform(-1, 2)
    scales.append(float(np.float32(output)))
    zeros = [int(rng.choice([*ZEROS, *rng.integers(-128, 128, 3)])) for _ in range(3)]
    shapes = ((256, 1), (1, 256)) if seed % 2 else ((1, 256), (256, 1))
    operands = tuple(
        c.Tensor(ArrayType(shape, DType.INT8, c.quant(s, z)), VALUES.reshape(shape))
        for shape, s, z in zip(shapes, scales[:2], zeros[:2], strict=True)
    )
    attrs = _attrs(op, seed, scales, zeros)
    return c.Case(f"{op} {seed}", op, attrs, operands, c.quant(scales[2], zeros[2]))


def _cases() -> Iterator[c.Case]:
    for op in OPS:
        yield from (_case(op, seed) for seed in range(COUNT))


def _inexact(op: str, seed: int) -> c.Case:
    """The same with scales of which no affine function is exact, for most zero points."""
    case = _case(op, seed)
    quants = [*(operand.type.quant for operand in case.inputs), case.output_quant]
    zeros = [quant.zero_point[0] for quant in quants if quant]
    *operands, output = (
        c.quant(scale, zero)
        for scale, zero in zip(INEXACT[seed % len(INEXACT)], zeros, strict=True)
    )
    inputs = tuple(
        c.Tensor(ArrayType(tensor.type.shape, DType.INT8, quant), tensor.array)
        for tensor, quant in zip(case.inputs, operands, strict=True)
    )
    attrs = _attrs(op, 4 * seed, [], [])  # clamped sums have an affine function more often
    return c.Case(f"{op}, inexact {seed}", op, attrs, inputs, output)


def _in_one_row(case: c.Case) -> c.Case:
    """The same pairs, from operands of equal shapes."""
    wide = tuple(
        c.Tensor(
            ArrayType((256, 256), DType.INT8, operand.type.quant),
            np.ascontiguousarray(np.broadcast_to(operand.array, (256, 256))),
        )
        for operand in case.inputs
    )
    return c.Case(f"{case.name}, wide", case.op, case.attrs, wide, case.output_quant)


def _taken(case: c.Case) -> set[str]:
    """The kernels that take the case."""
    node, graph = case.node, case.graph
    return {k.symbol for k in kernels.registry()[case.op] if k.refusal(node, graph) is None}


def test_kernels_equal_the_reference_for_all_pairs(tmp_path: Path) -> None:
    sums = [_inexact(op, seed) for op in ("add", "subtract") for seed in range(2 * COUNT)]
    assert sum(f"mg_{case.op}_rows_s8" in _taken(case) for case in sums) > COUNT
    cases = [*_cases(), *sums]
    c.check([*cases, *map(_in_one_row, cases[::3])], tmp_path)


def test_most_cases_have_a_cheaper_form() -> None:
    for op in OPS:
        cheaper = [not CHEAPER.isdisjoint(_taken(_case(op, seed))) for seed in range(COUNT)]
        assert sum(cheaper) >= COUNT - 2, op
