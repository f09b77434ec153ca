from pathlib import Path

import numpy as np
import pytest

from microgen.ir.graph import DType, TensorType
from microgen.ops.topk import OP, TopKAttrs
from tests.ops import conformance as c

NUMBERS = tuple(dtype for dtype in DType if dtype is not DType.BOOL)


def case_of(seed: int, dtype: DType, shape: tuple[int, ...], axis: int, k: int) -> c.Case:
    """A case with few different values, among them the extremes."""
    rng = np.random.default_rng(seed)
    if dtype is DType.FLOAT32:
        few = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], np.float32)
        values = rng.choice(few, shape) if seed % 3 else rng.normal(size=shape).astype(np.float32)
    else:
        limits = np.iinfo(dtype.numpy)
        few = np.array([limits.min, limits.max, 0, 1, 2], dtype.numpy)
        values = rng.choice(few, shape) if seed % 3 else rng.integers(0, 100, shape)
    data = c.Tensor(TensorType(shape, dtype), values.astype(dtype.numpy))
    attrs = TopKAttrs(axis, k, bool(seed % 2))
    output = (DType.INT32, DType.INT64)[seed // 2 % 2]
    return c.Case(f"{k} of {shape} along {axis}", OP.name, attrs, (data,), None, output)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    k = int(rng.integers(1, shape[axis] + 1))
    return case_of(seed, NUMBERS[seed % len(NUMBERS)], shape, axis, k)


CORNERS = [
    case_of(seed, dtype, *one)
    for seed, dtype in enumerate(NUMBERS * 2)
    for one in (((1,), 0, 1), ((40,), 0, 40), ((3, 30, 2), 1, 7))
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(140))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(7))], tmp_path)


@pytest.mark.parametrize(("axis", "k"), [(1, 1), (0, 4), (0, 0)])
def test_impossible_attributes_are_refused(axis: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"the axis 1 is not|1 to 3 are expected"):
        OP.infer(TopKAttrs(axis, k, True), [TensorType((3,), DType.INT8)])
