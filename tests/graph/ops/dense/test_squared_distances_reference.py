"""squared_distances against float64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.dense.squared_distances import OP, SquaredDistancesAttrs
from tests.kernels.conformance.conformance import Case
from tests.kernels.dense.test_squared_distances import squared_distances


def operands_of(case: Case) -> Operands:
    arrays = tuple(each.array for each in case.inputs)
    return Operands(arrays, case.input_types, (case.output_type,))


@pytest.mark.parametrize("seed", range(6))
def test_is_within_its_bound_of_float64(seed: int) -> None:
    case = squared_distances(seed, 3, 4, 1 + 7 * seed)
    rows, vectors = (each.array.astype(np.float64) for each in case.inputs)
    exact = ((rows[:, None] - vectors[None]) ** 2).sum(-1)
    errors = tuple(np.full(each.array.shape, 1e-3 * (seed % 2)) for each in case.inputs)
    given = Inexact(operands_of(case), errors, (case.expected,), (None,))
    (bound,) = OP.bound.of(case.attrs, given)
    assert (np.abs(case.expected - exact) <= bound).all()
    moved = tuple(a + e.astype(np.float32) * [-1, 1][k] for k, (a, e) in enumerate(
        zip(operands_of(case).inputs, errors, strict=True)))  # fmt: skip
    (found,) = OP.reference(case.attrs, replace(operands_of(case), inputs=moved))
    assert (np.abs(case.expected.astype(np.float64) - found) <= bound).all()


def test_impossible_shapes_are_refused() -> None:
    types = [ArrayType(shape, DType.FLOAT32) for shape in ((2, 3), (4, 2))]
    with pytest.raises(ValueError, match="must be matrices of as many columns"):
        OP.infer(SquaredDistancesAttrs(), types)
    with pytest.raises(ValueError, match="rows and vectors are expected"):
        OP.infer(SquaredDistancesAttrs(), types[:1])


def test_dtypes() -> None:
    plain, whole = (ArrayType((2, 3), dtype) for dtype in (DType.FLOAT32, DType.INT32))
    assert OP.check(SquaredDistancesAttrs(), [plain, plain], [plain]) is None
    assert OP.check(SquaredDistancesAttrs(), [plain, whole], [plain])
