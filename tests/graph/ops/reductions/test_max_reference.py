from __future__ import annotations

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.extremes import MAX, MaxAttrs
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.conformance.litert_oracle import assert_equal, needs_litert
from tests.kernels.reductions.reductions import (
    check_extreme_constraints,
    check_infinities_and_nan,
    litert_case,
)

INF, NAN = float("inf"), float("nan")


@needs_litert
@pytest.mark.parametrize("dtype", [*FAMILIES, DType.INT32], ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(litert_case(seed, MAX.name, "REDUCE_MAX", MaxAttrs, dtype, unchanged=True))


@needs_litert
@pytest.mark.parametrize("numbers", [[-INF, -INF], [INF, INF], [NAN, 2], [2, NAN], [NAN, NAN]])
def test_infinities_and_nan_as_litert(numbers: list[float]) -> None:
    check_infinities_and_nan(MAX.name, "REDUCE_MAX", MaxAttrs, numbers)


def test_constraints() -> None:
    check_extreme_constraints(MAX, MaxAttrs)
