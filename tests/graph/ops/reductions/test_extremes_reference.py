from __future__ import annotations

import math

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.reductions.extremes import (
    ArgMaxAttrs,
    ArgMinAttrs,
    MaxAttrs,
    MinAttrs,
    TopKAttrs,
)
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.conformance.litert_oracle import activation_type, assert_equal, needs_litert
from tests.kernels.moves.movement_cases import NUMBERS, topk
from tests.kernels.reductions import arg_extremes, reductions

INF, NAN = float("inf"), float("nan")
Reductions = type[MaxAttrs] | type[MinAttrs]
Positions = type[ArgMaxAttrs] | type[ArgMinAttrs]
over_axes = pytest.mark.parametrize(
    ("op", "code", "attrs"),
    [("max", "REDUCE_MAX", MaxAttrs), ("min", "REDUCE_MIN", MinAttrs)],
    ids=["max", "min"],
)
positions = pytest.mark.parametrize(
    ("op", "code", "attrs"),
    [("argmax", "ARG_MAX", ArgMaxAttrs), ("argmin", "ARG_MIN", ArgMinAttrs)],
    ids=["argmax", "argmin"],
)


@needs_litert
@over_axes
@pytest.mark.parametrize("dtype", [*FAMILIES, DType.INT32], ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_values_equal_litert(
    block: int, dtype: DType, op: str, code: str, attrs: Reductions
) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(reductions.litert_case(seed, op, code, attrs, dtype, unchanged=True))


@needs_litert
@over_axes
@pytest.mark.parametrize("numbers", [[-INF, -INF], [INF, INF], [NAN, 2], [2, NAN], [NAN, NAN]])
def test_infinities_and_nan_as_litert(
    numbers: list[float], op: str, code: str, attrs: Reductions
) -> None:
    reductions.check_infinities_and_nan(op, code, attrs, numbers)


@over_axes
def test_constraints_of_values(op: str, code: str, attrs: Reductions) -> None:
    reductions.check_extreme_constraints(registry()[op], attrs)


@needs_litert
@positions
@pytest.mark.parametrize("dtype", arg_extremes.DTYPES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(2))
def test_positions_equal_litert(
    block: int, dtype: DType, op: str, code: str, attrs: Positions
) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(arg_extremes.litert_case(seed, op, code, attrs, dtype))


@positions
def test_constraints_of_positions(op: str, code: str, attrs: Positions) -> None:
    data = activation_type((2, 3), 1.0, 0)
    assert registry()[op].check(attrs(0), [data], [data]) == (
        "the output is int8[2,3]; it must be int32 or int64 without quantization"
    )
    with pytest.raises(ValueError, match="the axis 2 is not one of"):
        registry()[op].infer(attrs(2), [data])


def _key(value: float, is_largest: bool) -> tuple[bool, float]:
    """The order of topk in plain Python."""
    return math.isnan(value), 0 if math.isnan(value) else -value if is_largest else value


@pytest.mark.parametrize("seed", range(24))
def test_the_best_come_first(seed: int) -> None:
    case = topk(seed, NUMBERS[seed % len(NUMBERS)], (2, 9, 3), 1, 1 + seed % 9)
    attrs = case.attrs
    assert isinstance(attrs, TopKAttrs)
    for outer, inner in np.ndindex(2, 3):
        values = case.inputs[0].array[outer, :, inner].tolist()
        order = sorted(range(9), key=lambda i, v=values: _key(v[i], attrs.is_largest))  # type: ignore[misc]
        assert case.expected[outer, :, inner].tolist() == order[: attrs.k]


def test_dtypes() -> None:
    attrs = TopKAttrs(0, 1, True)
    flags, wide = ArrayType((1,), DType.BOOL), ArrayType((1,), DType.INT64)
    assert "must be numbers" in str(registry()["topk"].check(attrs, [flags], [wide]))
    assert "must be int32 or int64" in str(registry()["topk"].check(attrs, [wide], [flags]))
