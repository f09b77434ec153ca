from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.product import MULTIPLY, MultiplyAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
)
from tests.kernels.elementwise import broadcasting

NONE = MultiplyAttrs(Activation.NONE)


def random_case(seed: int, dtype: DType = DType.INT8) -> Case:
    return broadcasting.litert_case(
        seed,
        MULTIPLY.name,
        "MUL",
        "MulOptions",
        MultiplyAttrs,
        lambda lhs, rhs: (128 if lhs.dtype is DType.INT8 else 32768) * lhs.scale * rhs.scale,
        dtype=dtype,
    )


def pairs_case(scales: tuple[float, float, float], zero_points: tuple[int, int, int]) -> Case:
    return broadcasting.all_pairs(MULTIPLY.name, "MUL", "MulOptions", NONE, scales, zero_points)


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
def test_every_pair_of_values() -> None:
    for zero_points in ((-128, -128, -128), (127, -128, 0), (127, 127, 127), (3, -5, 7)):
        assert_equal(pairs_case((0.1, 0.2, 0.7), zero_points))


@needs_litert
@pytest.mark.parametrize("exponent", [0, 8, 15, 16, 20, 29])
def test_a_tiny_output_scale_wraps_around(exponent: int) -> None:
    assert_equal(pairs_case((1.0, 1.5, 2.0**-exponent), (3, -5, 7)))


@needs_litert
@pytest.mark.parametrize("output_scale", [2.0**16, 2.0**31, 2.0**40])
def test_a_huge_output_scale(output_scale: float) -> None:
    assert_equal(pairs_case((1.0, 1.5, output_scale), (3, -5, 7)))


@needs_litert
def test_the_product_of_scales_is_rounded_to_float32() -> None:
    # In float32 the multiplier is exactly 1/2, so products are scaled to halves. In double it is
    # not.
    rng = np.random.default_rng(1)
    found = 0
    while found < 10:
        lhs, rhs = (np.float32(2 ** rng.uniform(-9, 1)) for _ in range(2))
        output = lhs * rhs * np.float32(2)
        if float(lhs) * float(rhs) / float(output) != 0.5:
            assert_equal(pairs_case((float(lhs), float(rhs), float(output)), (0, 0, 0)))
            found += 1


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(random_case(seed, dtype))


def test_refusals() -> None:
    broadcasting.check_refusals(MULTIPLY.name, NONE)


def test_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-30, 0)
    assert "2**30 times the output scale" in str(MULTIPLY.check(NONE, [data, data], [output]))
