"""nd_positions in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.moves.indexed import ND_POSITIONS, NdPositionsAttrs


def _found(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:  # type: ignore[type-arg]
    kind = TensorType(values.shape, DType(values.dtype.name))
    attrs = NdPositionsAttrs(shape)
    output = TensorType(ND_POSITIONS.infer(attrs, [kind])[0], DType.INT32)
    assert ND_POSITIONS.check(attrs, [kind], [output]) is None
    return ND_POSITIONS.reference(attrs, Operands((values,), (kind,), (output,)))[0]


@pytest.mark.parametrize("seed", range(20))
def test_positions_are_those_of_the_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    sizes = np.array(shape)
    values = rng.integers(-sizes, sizes, (5, len(shape))).astype((np.int32, np.int64)[seed % 2])
    data = np.arange(sizes.prod()).reshape(shape)
    expected = [data[tuple(index)] for index in values]
    np.testing.assert_array_equal(_found(values, shape), expected)


@pytest.mark.parametrize("wrong", [-4, 3, 2**40])
def test_the_first_index_outside_is_named(wrong: int) -> None:
    with pytest.raises(StatusError) as caught:
        _found(np.array([[0, -2], [wrong, 1]]), (3, 2))
    error = caught.value
    assert (error.status, error.element, error.value) == (0x0803, (1, 0), wrong)
    assert error.allowed == "from -3 to 2"


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_impossible_depths_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="their last axis must have 2 numbers"):
        ND_POSITIONS.infer(NdPositionsAttrs((4, 4)), [TensorType(shape, DType.INT32)])


def test_dtypes() -> None:
    wide, narrow = TensorType((1,), DType.INT64), TensorType((1,), DType.INT8)
    assert "must be int32 or int64" in str(
        ND_POSITIONS.check(NdPositionsAttrs((1,)), [narrow], [wide])
    )
    assert "must be plain int32" in str(ND_POSITIONS.check(NdPositionsAttrs((1,)), [wide], [wide]))
