from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.reductions.running import CUMPROD, CumprodAttrs
from tests.kernels.conformance.every_dtype import random_array


def _operands(data: np.ndarray, dtype: DType) -> Operands:
    kind = TensorType(data.shape, dtype)
    return Operands((data,), (kind,), (kind,))


@pytest.mark.parametrize("dtype", [DType.INT32, DType.INT64, DType.FLOAT32])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_equals_a_loop(dtype: DType, exclusive: bool, reverse: bool) -> None:
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
def test_the_bound_covers_changed_inputs(attrs: CumprodAttrs) -> None:
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


def test_impossible_inputs_are_refused() -> None:
    kind, other = TensorType((2, 3), DType.INT32), TensorType((2, 3), DType.BOOL)
    with pytest.raises(ValueError, match="the axis is 2"):
        CUMPROD.infer(CumprodAttrs(2), [kind])
    expected = "the input is bool[2,3]; it must be int32 or int64 or float32"
    assert CUMPROD.check(CumprodAttrs(1), [other], [other]) == expected
