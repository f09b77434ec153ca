from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.moves.indexed import ND_POSITIONS, NdPositionsAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import nd_positions


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    counts = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    return nd_positions(seed, shape, counts, int(rng.random() < 0.2))


def _far(value: int) -> c.Case:
    """An index that does not fit int32."""
    indices = np.array([[0], [value]], np.int64)
    tensor = c.Tensor(TensorType(indices.shape, DType.INT64), indices)
    return c.Case(
        f"far {value}", ND_POSITIONS.name, NdPositionsAttrs((3,)), (tensor,), None, DType.INT32
    )


CORNERS = [
    *(nd_positions(seed, (1,), (), 0) for seed in (0, 1)),
    *(nd_positions(seed, (2, 1, 3, 2, 1, 2, 2, 3), (7,), 0) for seed in (0, 1)),
    *(_far(value) for value in (2**32, -(2**32), 2**62, -(2**63))),
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_random_cases_have_indices_outside() -> None:
    statuses = [_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40
    assert all(case.outcome.status for case in CORNERS[4:])


def test_more_than_eight_axes_are_refused() -> None:
    case = nd_positions(0, (1,) * 9, (), 0)
    (kernel,) = kernels.registry()[ND_POSITIONS.name]
    assert kernel.refusal(case.node, case.graph) == "9 axes have indices, the kernel takes 8"
