from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ops.moves.indexed import AXIS_POSITIONS
from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import axis_positions


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 6))))
    axis = int(rng.integers(len(shape)))
    own = tuple(int(rng.integers(1, n + 1)) if rng.random() < 0.4 else n for n in shape)
    own = (*own[:axis], int(rng.integers(1, 7)), *own[axis + 1 :])
    return axis_positions(seed, shape, own, axis, int(rng.random() < 0.2))


CORNERS = [
    axis_positions(seed, *one)
    for seed in (0, 1)
    for one in (
        ((1,), (1,), 0),
        ((5,), (9,), 0),
        ((2, 3, 4, 2, 3, 2), (1, 2, 3, 5, 2, 1), 3),
        ((2, 3, 4, 2, 3, 2), (2, 3, 4, 2, 3, 2), 0),
        ((2, 3, 4, 2, 3, 2), (2, 3, 4, 2, 3, 2), 5),
    )
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_random_cases_have_indices_outside() -> None:
    statuses = [_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40


def test_more_than_six_axes_are_refused() -> None:
    case = axis_positions(0, (3,) * 7, (2,) * 7, 3)
    (kernel,) = kernels.registry()[AXIS_POSITIONS.name]
    assert "lie along 7 axes" in str(kernel.refusal(case.node, case.graph))
