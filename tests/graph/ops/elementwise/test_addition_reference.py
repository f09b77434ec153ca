from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.addition import (
    ADD,
    SQUARED_DIFFERENCE,
    SUBTRACT,
    AddAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
)
from tests.kernels.conformance.litert_oracle import (
    FUSED,
    Case,
    activation_type,
    assert_equal,
    needs_litert,
)
from tests.kernels.elementwise import additions, broadcasting


def _add_random_case(seed: int, dtype: DType = DType.INT8) -> Case:
    return broadcasting.litert_case(
        seed,
        ADD.name,
        "ADD",
        "AddOptions",
        AddAttrs,
        lambda lhs, rhs: 2 * (lhs.scale if dtype is DType.INT8 else max(lhs.scale, rhs.scale)),
        dtype=dtype,
        options={"potScaleInt16": False},
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_add_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_add_random_case(seed))


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_add_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(_add_random_case(seed, dtype))


@needs_litert
@pytest.mark.parametrize("scales", additions.BY_SHIFTS)
def test_add_addition_by_shifts_equals_litert(scales: tuple[float, float, float]) -> None:
    for activation in FUSED:
        attrs = AddAttrs(activation, by_shifts=True)
        assert_equal(additions.litert_case(ADD.name, "ADD", "AddOptions", attrs, scales))


@pytest.mark.parametrize("scales", additions.NOT_BY_SHIFTS)
def test_add_scales_that_are_not_added_by_shifts(scales: tuple[float, float, float]) -> None:
    assert "powers of two" in additions.refusal(ADD, AddAttrs(Activation.NONE, True), scales)


def test_add_refusals_of_additions_by_shifts() -> None:
    additions.check_refusals(ADD, AddAttrs(Activation.NONE, by_shifts=True))


def test_add_refusals() -> None:
    broadcasting.check_refusals(ADD.name, AddAttrs(Activation.NONE))


def test_add_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-19, 0)
    attrs = AddAttrs(Activation.NONE)
    assert "2**19 times the output scale" in str(ADD.check(attrs, [data, data], [output]))


def _subtract_random_case(seed: int, dtype: DType = DType.INT8) -> Case:
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
def test_subtract_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_subtract_random_case(seed))


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
def test_subtract_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(_subtract_random_case(seed, dtype))


@needs_litert
@pytest.mark.parametrize("scales", additions.BY_SHIFTS)
def test_subtract_addition_by_shifts_equals_litert(scales: tuple[float, float, float]) -> None:
    for activation in FUSED:
        attrs = SubtractAttrs(activation, by_shifts=True)
        assert_equal(additions.litert_case(SUBTRACT.name, "SUB", "SubOptions", attrs, scales))


@pytest.mark.parametrize("scales", additions.NOT_BY_SHIFTS)
def test_subtract_scales_that_are_not_added_by_shifts(scales: tuple[float, float, float]) -> None:
    assert "powers of two" in additions.refusal(
        SUBTRACT, SubtractAttrs(Activation.NONE, True), scales
    )


def test_subtract_refusals_of_additions_by_shifts() -> None:
    additions.check_refusals(SUBTRACT, SubtractAttrs(Activation.NONE, by_shifts=True))


def test_subtract_refusals() -> None:
    broadcasting.check_refusals(SUBTRACT.name, SubtractAttrs(Activation.NONE))


def test_subtract_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-19, 0)
    attrs = SubtractAttrs(Activation.NONE)
    assert "2**19 times the output scale" in str(SUBTRACT.check(attrs, [data, data], [output]))


ATTRS = SquaredDifferenceAttrs()
CODE, OPTIONS = "SQUARED_DIFFERENCE", "SquaredDifferenceOptions"


def make(_activation: Activation) -> SquaredDifferenceAttrs:
    return ATTRS


def _squared_difference_random_case(seed: int, dtype: DType = DType.INT8) -> Case:
    return broadcasting.litert_case(
        seed,
        SQUARED_DIFFERENCE.name,
        CODE,
        OPTIONS,
        make,
        lambda lhs, rhs: 2 * max(lhs.scale, rhs.scale) ** 2,
        has_activation=False,
        dtype=dtype,
    )


def pairs_case(scales: tuple[float, float, float], zero_points: tuple[int, int, int]) -> Case:
    return broadcasting.all_pairs(
        SQUARED_DIFFERENCE.name, CODE, OPTIONS, ATTRS, scales, zero_points
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_squared_difference_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_squared_difference_random_case(seed))


@needs_litert
@pytest.mark.parametrize("output_scale", [2.0**-11, 0.01, 1.0, 300.0, 1e9])
def test_every_pair_of_values(output_scale: float) -> None:
    for zero_points in ((-128, 127, 0), (127, -128, -128), (3, -5, 7)):
        assert_equal(pairs_case((1.0, 0.7, output_scale), zero_points))


@needs_litert
def test_the_square_of_the_scale_is_not_rounded_to_float32() -> None:
    # Rounded to float32, the multiplier would be 5/8, and 4 would be scaled to a half.
    rng = np.random.default_rng(1)
    found = 0
    while found < 10:
        unit = np.float32(rng.integers(2**20, 2**21)) * np.float32(2.0**-20)
        twice = np.float32(np.sqrt(np.float64(unit) * 5))
        if twice * twice == unit * np.float32(5) and float(twice) ** 2 != float(unit) * 5:
            lhs, output = float(twice) / 2, float(unit) * 2.0**-11
            assert_equal(pairs_case((lhs, lhs / 64, output), (0, 0, 0)))
            found += 1


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT32, DType.FLOAT32])
def test_squared_difference_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(_squared_difference_random_case(seed, dtype))


def test_squared_difference_refusals() -> None:
    broadcasting.check_refusals(SQUARED_DIFFERENCE.name, ATTRS)


def test_squared_difference_scales_too_far_apart() -> None:
    data = activation_type((1,), 1.0, 0)
    for exponent in (12, 30, 120):
        output = activation_type((1,), 2.0**-exponent, 0)
        assert "2**12 times the output scale" in str(
            SQUARED_DIFFERENCE.check(ATTRS, [data, data], [output])
        )
