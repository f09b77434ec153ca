from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import DType
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of
from tests.kernels.moves.movement_cases import COMBINED, REDUCTIONS, scatter


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, 4))))
    reduction = REDUCTIONS[seed % len(REDUCTIONS)]
    dtype = dtype_of(seed // 5) if reduction == "none" else COMBINED[seed // 5 % len(COMBINED)]
    over = int(rng.random() < 0.2)
    return scatter(seed, dtype, shape, int(rng.integers(1, 9)), reduction, seed % 3 == 0, over)


def _special(seed: int) -> c.Case:
    """Floats that are not numbers, infinite or zeros of both signs."""
    case = scatter(seed, DType.FLOAT32, (9, 4), 30, REDUCTIONS[3 + seed % 2], False)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)
    rng = np.random.default_rng(seed)
    for tensor in (case.inputs[0], case.inputs[2]):
        tensor.array[:] = rng.choice(values, tensor.array.shape)
    return case


CORNERS = [
    *(scatter(1, dtype, (5, 3), 4, "none", filled) for dtype in DTYPES for filled in (False, True)),
    *(
        scatter(2, dtype, (3, 2), 9, reduction, filled)
        for dtype in COMBINED
        for reduction in REDUCTIONS[1:]
        for filled in (False, True)
    ),
    *map(_special, range(4)),
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(120))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_random_cases_have_positions_outside() -> None:
    statuses = [_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40


@pytest.mark.parametrize("dtype", [DType.INT8, DType.BOOL])
def test_other_dtypes_are_not_combined(dtype: DType) -> None:
    with pytest.raises(ValueError, match="to be combined it must be float32, int32, int64"):
        scatter(0, dtype, (2,), 1, "add", False)
