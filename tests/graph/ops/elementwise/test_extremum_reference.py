from __future__ import annotations

import pytest

from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from tests.kernels.conformance.litert_oracle import assert_equal, needs_litert
from tests.kernels.elementwise import broadcasting, extremes

both = pytest.mark.parametrize(
    ("op", "attrs"), [("maximum", MaximumAttrs()), ("minimum", MinimumAttrs())], ids=["max", "min"]
)


@needs_litert
@both
@pytest.mark.parametrize("block", range(4))
def test_equals_litert_whatever_the_quantizations(block: int, op: str, attrs: Attrs) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(extremes.litert_case(seed, op, attrs))


@needs_litert
@both
@pytest.mark.parametrize(
    ("scales", "zero_points"),
    [((0.5, 0.5, 0.5), (-3, -3, -3)), ((1.0, 0.5, 2.0), (3, -20, 9))],
)
def test_every_pair_of_values(
    op: str, attrs: Attrs, scales: tuple[float, ...], zero_points: tuple[int, ...]
) -> None:
    extremes.check_every_pair(op, attrs, scales, zero_points)


@needs_litert
@both
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_other_dtypes_equal_litert(dtype: DType, op: str, attrs: Attrs) -> None:
    for seed in range(150):
        assert_equal(extremes.litert_case(seed, op, attrs, dtype))


@needs_litert
@both
def test_nan_and_zeros_of_either_sign_equal_litert(op: str, attrs: Attrs) -> None:
    extremes.check_special_floats(op, attrs)


@both
def test_refusals(op: str, attrs: Attrs) -> None:
    broadcasting.check_refusals(op, attrs)
