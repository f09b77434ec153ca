from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Inexact, OpDefinition, Operands
from microgen.graph.ops.reductions.running import (
    CUMPROD,
    CUMSUM,
    DTYPES,
    CumprodAttrs,
    CumsumAttrs,
    RunningAttrs,
)
from tests.kernels.conformance.every_dtype import random_array
from tests.kernels.conformance.litert_oracle import Case, assert_equal, int32_constant, needs_litert


def _case(seed: int) -> Case:
    rng, dtype = np.random.default_rng(seed), DTYPES[seed % len(DTYPES)]
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, 5))))
    axis, exclusive, reverse = int(rng.integers(len(shape))), seed % 2 == 0, seed % 4 < 2
    return Case(
        CUMSUM.name,
        CumsumAttrs(axis, exclusive, reverse),
        [ArrayType(shape, dtype)],
        [random_array(rng, shape, dtype)],
        None,
        "CUMSUM",
        "CumsumOptions",
        {"exclusive": exclusive, "reverse": reverse},
        extra=[int32_constant("axis", np.array(axis - int(rng.choice([0, len(shape)]))))],
        output_dtype=dtype,
    )


@needs_litert
def test_cumsum_equals_litert() -> None:
    for seed in range(120):
        assert_equal(_case(seed))


def _operands(data: np.ndarray, dtype: DType) -> Operands:
    kind = ArrayType(data.shape, dtype)
    return Operands((data,), (kind,), (kind,))


@pytest.mark.parametrize("dtype", [DType.INT32, DType.INT64, DType.FLOAT32])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumprod_equals_a_loop(dtype: DType, exclusive: bool, reverse: bool) -> None:
    data = random_array(np.random.default_rng(3), (2, 5, 3), dtype)
    expected = np.empty_like(data)
    total = np.ones((2, 3), data.dtype)
    with np.errstate(all="ignore"):
        for at in range(5)[:: -1 if reverse else 1]:
            before, total = total, total * data[:, at]
            expected[:, at] = before if exclusive else total
    (found,) = CUMPROD.reference(CumprodAttrs(1, exclusive, reverse), _operands(data, dtype))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("attrs", [CumprodAttrs(1), CumprodAttrs(1, True, True)])
def test_the_bound_of_cumprod_covers_changed_inputs(attrs: CumprodAttrs) -> None:
    rng = np.random.default_rng(4)
    data = rng.normal(1, 0.3, (3, 9)).astype(np.float32)
    error = np.full(data.shape, 1e-4)
    expected = CUMPROD.reference(attrs, _operands(data, DType.FLOAT32))
    given = Inexact(_operands(data, DType.FLOAT32), (error,), expected, (None,))
    (bound,) = CUMPROD.bound.of(attrs, given)
    for _ in range(20):
        moved = (data + rng.uniform(-1, 1, data.shape) * 9e-5).astype(np.float32)
        (found,) = CUMPROD.reference(attrs, _operands(moved, DType.FLOAT32))
        assert (np.abs(found.astype(np.float64) - expected[0]) <= bound).all()
    assert bound.max() < 0.1


@pytest.mark.parametrize(
    ("op", "kind"), [(CUMSUM, CumsumAttrs), (CUMPROD, CumprodAttrs)], ids=["cumsum", "cumprod"]
)
def test_impossible_inputs_are_refused(op: OpDefinition, kind: type[RunningAttrs]) -> None:
    numbers, others = ArrayType((2, 3), DType.INT32), ArrayType((2, 3), DType.BOOL)
    with pytest.raises(ValueError, match="the axis is 2"):
        op.infer(kind(2), [numbers])
    expected = "the input is bool[2,3]; it must be int32 or int64 or float32"
    assert op.check(kind(1), [others], [others]) == expected
