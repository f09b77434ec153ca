from pathlib import Path

import numpy as np

from microgen.ir.graph import DType, TensorType
from microgen.ops.grid_sample import MODES, OP, PADDINGS, GridSampleAttrs
from tests.ops import conformance as c

Shape = tuple[int, ...]


def case_of(
    seed: int, shape: Shape, points: Shape, mode: str, padding: str, aligns: bool
) -> c.Case:
    """Coordinates inside, outside and on the borders."""
    rng = np.random.default_rng(seed)
    grid = rng.uniform(-2.5, 2.5, (shape[0], *points, len(shape) - 2)).astype(np.float32)
    exact = rng.choice(np.array([-3, -1.5, -1, -0.5, 0, 0.25, 1, 2], np.float32), grid.shape)
    grid = np.where(rng.random(grid.shape) < 0.3, exact, grid)
    if seed % 4 == 0:
        far = np.array([np.nan, np.inf, -np.inf, 1e20, -1e8, 3e5], np.float32)
        grid = np.where(rng.random(grid.shape) < 0.1, rng.choice(far, grid.shape), grid)
    inputs = (c.float32(rng, shape), c.Tensor(TensorType(grid.shape, DType.FLOAT32), grid))
    attrs = GridSampleAttrs(mode, padding, aligns)
    return c.Case(f"{attrs} of {shape}", OP.name, attrs, inputs, None, DType.FLOAT32)


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(3, 6))))
    points = tuple(int(n) for n in rng.integers(1, 5, len(shape) - 2))
    mode, padding = MODES[seed % 3], PADDINGS[seed // 3 % 3]
    return case_of(seed, shape, points, mode, padding, bool(seed // 9 % 2))


CORNERS = [
    case_of(1, (1, 1, 1, 1), (4, 4), mode, padding, aligns)
    for mode in MODES
    for padding in PADDINGS
    for aligns in (False, True)
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_case, range(108))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_case, range(18))], tmp_path)
