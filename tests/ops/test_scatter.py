from pathlib import Path

import numpy as np
import pytest

from microgen.ir.graph import DType, TensorType
from microgen.ops.scatter import OP, ScatterAttrs
from tests.ops import conformance as c
from tests.ops.every_dtype import DTYPES, dtype_of, random_array, random_type

Shape = tuple[int, ...]
COMBINED = (DType.FLOAT32, DType.INT32, DType.INT64)
REDUCTIONS = ("none", "add", "mul", "max", "min")


def case_of(
    seed: int, dtype: DType, shape: Shape, count: int, reduction: str, filled: bool, over: int = 0
) -> c.Case:
    """A case whose positions are up to ``over`` outside of each end."""
    rng = np.random.default_rng(seed)
    kind = random_type(rng, (), dtype)
    data, updates = (
        c.Tensor(TensorType(own, dtype, kind.quant), random_array(rng, own, dtype))
        for own in (() if filled else shape, (count, *shape[1:]))
    )
    values = rng.integers(-over, shape[0] + over, count).astype(np.int32)
    positions = c.Tensor(TensorType((count,), DType.INT32), values)
    name = f"{reduction} {count} into {shape}, {over} over"
    attrs = ScatterAttrs(shape, reduction)
    return c.Case(name, OP.name, attrs, (data, positions, updates), kind.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, 4))))
    reduction = REDUCTIONS[seed % len(REDUCTIONS)]
    dtype = dtype_of(seed // 5) if reduction == "none" else COMBINED[seed // 5 % len(COMBINED)]
    over = int(rng.random() < 0.2)
    return case_of(seed, dtype, shape, int(rng.integers(1, 9)), reduction, seed % 3 == 0, over)


def _special(seed: int) -> c.Case:
    """Floats that are not numbers, infinite or zeros of both signs."""
    case = case_of(seed, DType.FLOAT32, (9, 4), 30, REDUCTIONS[3 + seed % 2], False)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)
    rng = np.random.default_rng(seed)
    for tensor in (case.inputs[0], case.inputs[2]):
        tensor.array[:] = rng.choice(values, tensor.array.shape)
    return case


CORNERS = [
    *(case_of(1, dtype, (5, 3), 4, "none", filled) for dtype in DTYPES for filled in (False, True)),
    *(
        case_of(2, dtype, (3, 2), 9, reduction, filled)
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
        case_of(0, dtype, (2,), 1, "add", False)
