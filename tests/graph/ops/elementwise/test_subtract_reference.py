from __future__ import annotations

import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.addition import SUBTRACT, SubtractAttrs
from tests.kernels.conformance.litert_oracle import (
    FUSED,
    Case,
    activation_type,
    assert_equal,
    needs_litert,
)
from tests.kernels.elementwise import additions, broadcasting


def random_case(seed: int, dtype: DType = DType.INT8) -> Case:
    return broadcasting.litert_case(
        seed,
        SUBTRACT.name,
        "SUB",
        "SubOptions",
        SubtractAttrs,
        lambda lhs, rhs: 2 * (lhs.scale if dtype is DType.INT8 else max(lhs.scale, rhs.scale)),
        dtype=dtype,
        options={"potScaleInt16": False},
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("numerator", [2**21 - 1, 2**21 - 3, 2**21 - 1001, 2**20 + 1])
def test_halves_of_the_right_operand_are_rounded_before_it_is_negated(numerator: int) -> None:
    # This multiplier has ten trailing zeros, so odd operands are scaled to halves. The output's
    # scale is small enough to show these.
    scales = (1.0, numerator / 2**21, 2.0**-18)
    attrs = SubtractAttrs(Activation.NONE)
    assert_equal(
        broadcasting.all_pairs(SUBTRACT.name, "SUB", "SubOptions", attrs, scales, (0, 0, 0))
    )


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(random_case(seed, dtype))


@needs_litert
@pytest.mark.parametrize("scales", additions.BY_SHIFTS)
def test_addition_by_shifts_equals_litert(scales: tuple[float, float, float]) -> None:
    for activation in FUSED:
        attrs = SubtractAttrs(activation, by_shifts=True)
        assert_equal(additions.litert_case(SUBTRACT.name, "SUB", "SubOptions", attrs, scales))


@pytest.mark.parametrize("scales", additions.NOT_BY_SHIFTS)
def test_scales_that_are_not_added_by_shifts(scales: tuple[float, float, float]) -> None:
    assert "powers of two" in additions.refusal(
        SUBTRACT, SubtractAttrs(Activation.NONE, True), scales
    )


def test_refusals_of_additions_by_shifts() -> None:
    additions.check_refusals(SUBTRACT, SubtractAttrs(Activation.NONE, by_shifts=True))


def test_refusals() -> None:
    broadcasting.check_refusals(SUBTRACT.name, SubtractAttrs(Activation.NONE))


def test_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-19, 0)
    attrs = SubtractAttrs(Activation.NONE)
    assert "2**19 times the output scale" in str(SUBTRACT.check(attrs, [data, data], [output]))
