from pathlib import Path

import numpy as np

from microgen.graph.ops.detection.sampling import MODES, PADDINGS
from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import grid_sample


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(3, 6))))
    points = tuple(int(n) for n in rng.integers(1, 5, len(shape) - 2))
    mode, padding = MODES[seed % 3], PADDINGS[seed // 3 % 3]
    return grid_sample(seed, shape, points, mode, padding, bool(seed // 9 % 2))


CORNERS = [
    grid_sample(1, (1, 1, 1, 1), (4, 4), mode, padding, aligns)
    for mode in MODES
    for padding in PADDINGS
    for aligns in (False, True)
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_case, range(108))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_case, range(18))], tmp_path)
