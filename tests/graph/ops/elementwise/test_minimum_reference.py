from __future__ import annotations

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.extremum import MINIMUM, MinimumAttrs
from tests.kernels.conformance.litert_oracle import assert_equal, needs_litert
from tests.kernels.elementwise import broadcasting, extremes


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert_whatever_the_quantizations(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(extremes.litert_case(seed, MINIMUM.name, MinimumAttrs()))


@needs_litert
@pytest.mark.parametrize(
    ("scales", "zero_points"),
    [((0.5, 0.5, 0.5), (-3, -3, -3)), ((1.0, 0.5, 2.0), (3, -20, 9))],
)
def test_every_pair_of_values(scales: tuple[float, ...], zero_points: tuple[int, ...]) -> None:
    extremes.check_every_pair(MINIMUM.name, MinimumAttrs(), scales, zero_points)


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(extremes.litert_case(seed, MINIMUM.name, MinimumAttrs(), dtype))


@needs_litert
def test_nan_and_zeros_of_either_sign_equal_litert() -> None:
    extremes.check_special_floats(MINIMUM.name, MinimumAttrs())


def test_refusals() -> None:
    broadcasting.check_refusals(MINIMUM.name, MinimumAttrs())
