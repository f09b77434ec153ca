"""scatter in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.moves.indexed import SCATTER, ScatterAttrs
from tests.kernels.moves.movement_cases import REDUCTIONS, scatter

COMBINE = {
    "none": lambda _old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_combined_one_by_one(seed: int) -> None:
    rng, reduction = np.random.default_rng(seed), REDUCTIONS[seed % len(REDUCTIONS)]
    shape = (int(rng.integers(1, 5)), *(int(n) for n in rng.integers(1, 4, int(rng.integers(3)))))
    case = scatter(seed, DType.FLOAT32, shape, 12, reduction, bool(seed % 2))
    data, positions, updates = (tensor.array for tensor in case.inputs)
    expected = np.broadcast_to(data, shape).copy()
    for position, row in zip(positions, updates, strict=True):
        expected[position] = COMBINE[reduction](expected[position], row)
    np.testing.assert_array_equal(case.expected, expected)


def test_integers_wrap() -> None:
    case = scatter(0, DType.INT32, (1,), 2, "add", False)
    case.inputs[0].array[:], case.inputs[2].array[:] = 2**31 - 1, 1
    assert case.expected.tolist() == [-(2**31) + 1]


def test_a_position_outside_is_named() -> None:
    case = scatter(0, DType.INT32, (3,), 2, "none", False)
    kinds, arrays = case.input_types, [tensor.array for tensor in case.inputs]
    arrays[1] = np.array([2, 3], np.int32)
    with pytest.raises(StatusError) as caught:
        SCATTER.reference(case.attrs, Operands(tuple(arrays), kinds, (case.output_type,)))
    assert (caught.value.element, caught.value.allowed) == ((1,), "from 0 to 2")


@pytest.mark.parametrize(
    ("shapes", "reduction", "sentence"),
    [
        (((3, 2), (1,)), "none", "there are 2 inputs"),
        (((3, 2), (1,), (1, 2)), "sub", "the reduction is 'sub'"),
        (((3, 1), (1,), (1, 2)), "none", "or one element is expected"),
        (((3, 2), (1,), (2, 2)), "none", "a position for each row"),
        (((3, 2), (1, 1), (1, 1, 2)), "none", "a position for each row"),
    ],
)
def test_impossible_shapes_are_refused(
    shapes: tuple[tuple[int, ...], ...], reduction: str, sentence: str
) -> None:
    kinds = [TensorType(shape, DType.INT32) for shape in shapes]
    with pytest.raises(ValueError, match=sentence):
        SCATTER.infer(ScatterAttrs((3, 2), reduction), kinds)


def test_positions_are_int32() -> None:
    kind, wide = TensorType((3,), DType.INT32), TensorType((3,), DType.INT64)
    assert "must be int32" in str(SCATTER.check(ScatterAttrs((3,)), [kind, wide, kind], [kind]))
