"""axis_positions in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.moves.indexed import AXIS_POSITIONS, AxisPositionsAttrs
from tests.kernels.moves.movement_cases import axis_positions


@pytest.mark.parametrize("seed", range(20))
def test_positions_are_those_of_the_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    own = tuple(int(rng.integers(1, n + 1)) for n in shape)
    case = axis_positions(seed, shape, own, axis)
    data = np.arange(np.prod(shape)).reshape(shape)
    indices = case.inputs[0].array
    for place in np.ndindex(*own):
        there = (*place[:axis], int(indices[place]), *place[axis + 1 :])
        assert case.expected[place] == data[there]


def test_an_index_outside_is_named() -> None:
    indices, kind = np.array([[-3], [3]], np.int32), TensorType((2, 1), DType.INT32)
    with pytest.raises(StatusError) as caught:
        AXIS_POSITIONS.reference(
            AxisPositionsAttrs((2, 3), 1), Operands((indices,), (kind,), (kind,))
        )
    assert (caught.value.element, caught.value.allowed) == ((1, 0), "from -3 to 2")


@pytest.mark.parametrize(("axis", "own"), [(2, (1, 1)), (1, (3, 1)), (0, (1,))])
def test_impossible_shapes_are_refused(axis: int, own: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"the axis is|must fit into"):
        AXIS_POSITIONS.infer(AxisPositionsAttrs((2, 3), axis), [TensorType(own, DType.INT32)])
