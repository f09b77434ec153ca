from pathlib import Path

import numpy as np

from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import roi_align


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, (3, 9, 9, 5)))
    return roi_align(seed, shape, int(rng.integers(1, 4)), int(rng.random() < 0.2))


CORNERS = [roi_align(seed, (1, 1, 1, 1), 2) for seed in range(8)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_case, range(60))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_case, range(8))], tmp_path)


def test_some_cases_have_no_such_image() -> None:
    statuses = [random_case(seed).outcome.status for seed in range(60)]
    assert 1 < statuses.count(0x0803) < 20
