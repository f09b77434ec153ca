from pathlib import Path

import numpy as np

from microgen.ir.graph import DType, TensorType
from microgen.ops.roi_align import OP, RoiAlignAttrs
from tests.ops import conformance as c


def case_of(seed: int, shape: tuple[int, ...], regions: int, over: int = 0) -> c.Case:
    """Regions inside and partly outside of images, some without an extent."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-3, 2 * max(shape[1:3]) + 3, (regions, 4)).astype(np.float32)
    if seed % 4 == 0:
        corners[rng.random(corners.shape) < 0.1] = np.nan
        corners[rng.random(corners.shape) < 0.1] = -50.0
    numbers = rng.integers(0, shape[0] + over, regions).astype(np.int32)
    inputs = (
        c.float32(rng, shape),
        c.Tensor(TensorType(corners.shape, DType.FLOAT32), corners),
        c.Tensor(TensorType(numbers.shape, DType.INT32), numbers),
    )
    attrs = RoiAlignAttrs(
        (int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        0.5,
        int(rng.integers(0, 4)),
        is_max=bool(seed % 2),
        is_half=bool(seed // 2 % 2),
    )
    return c.Case(f"{attrs} of {shape}", OP.name, attrs, inputs, None, DType.FLOAT32)


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, (3, 9, 9, 5)))
    return case_of(seed, shape, int(rng.integers(1, 4)), int(rng.random() < 0.2))


CORNERS = [case_of(seed, (1, 1, 1, 1), 2) for seed in range(8)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_case, range(60))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_case, range(8))], tmp_path)


def test_some_cases_have_no_such_image() -> None:
    statuses = [random_case(seed).outcome.status for seed in range(60)]
    assert 1 < statuses.count(0x0803) < 20
