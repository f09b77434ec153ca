from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.addition import SQUARED_DIFFERENCE, SquaredDifferenceAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
)
from tests.kernels.elementwise import broadcasting

ATTRS = SquaredDifferenceAttrs()
CODE, OPTIONS = "SQUARED_DIFFERENCE", "SquaredDifferenceOptions"


def make(_activation: Activation) -> SquaredDifferenceAttrs:
    return ATTRS


def random_case(seed: int, dtype: DType = DType.INT8) -> Case:
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
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


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
def test_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(random_case(seed, dtype))


def test_refusals() -> None:
    broadcasting.check_refusals(SQUARED_DIFFERENCE.name, ATTRS)


def test_scales_too_far_apart() -> None:
    data = activation_type((1,), 1.0, 0)
    for exponent in (12, 30, 120):
        output = activation_type((1,), 2.0**-exponent, 0)
        assert "2**12 times the output scale" in str(
            SQUARED_DIFFERENCE.check(ATTRS, [data, data], [output])
        )
