from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting

OPS = ("floor_divide", "floor_mod", "fmod")
ATTRS = FloorDivisionAttrs()
NUMBERS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-45,
    -1e-45,
    1.1754942e-38,
    3.4028235e38,
)


def _random(op: str, seed: int, dtype: DType) -> c.Case:
    """A random case, mostly without zeros among the divisors."""
    case = broadcasting.random_kernel_case(seed, op, lambda _: ATTRS, dtype)
    lhs, rhs = case.inputs
    if seed % 5 == 0:
        return case
    return replace(case, inputs=(lhs, c.Tensor(rhs.type, np.where(rhs.array == 0, 1, rhs.array))))


def _case(op: str, name: str, lhs: Array, rhs: Array) -> c.Case:
    dtype = DType(lhs.dtype.name)
    inputs = tuple(c.Tensor(ArrayType(a.shape, dtype), a) for a in (lhs, rhs))
    return c.Case(name, op, ATTRS, inputs, None, dtype)


def _floats(op: str) -> list[c.Case]:
    """Special numbers, numbers of any magnitude, and quotients close to integers."""
    rng = np.random.default_rng(0)
    numbers = np.array(NUMBERS, np.float32)
    others = numbers[numbers != 0]
    patterns = rng.integers(0, 2**32, (2, 2000), np.uint32).view(np.float32)
    small, wide = rng.integers(1, 2**12, 2000), rng.integers(-(2**24), 2**24, 2000)
    steps = rng.integers(-2, 3, 2000)
    products = (small * wide).astype(np.float32).view(np.int32) + steps.astype(np.int32)
    pairs = {
        "special": (numbers[:, None], others[None, :]),
        "patterns": (patterns[0], np.where(patterns[1] == 0, np.float32(1), patterns[1])),
        "close": (products.view(np.float32), small.astype(np.float32)),
        "sizes": (wide.astype(np.float32), small.astype(np.float32) * np.float32(0.1)),
    }
    return [_case(op, name, *map(np.ascontiguousarray, pair)) for name, pair in pairs.items()]


def _integers(op: str) -> c.Case:
    ends = np.array([-(2**31), -(2**31) + 1, -7, -1, 0, 1, 7, 2**31 - 1], np.int32)
    return _case(op, "ends", ends[:, None], ends[ends != 0][None, :])


def _cases(op: str, count: int) -> list[c.Case]:
    dtypes = (DType.INT32, DType.FLOAT32)
    return [_random(op, seed, dtype) for dtype in dtypes for seed in range(count)]


@pytest.mark.parametrize("op", OPS)
def test_kernels_equal_the_reference(op: str, tmp_path: Path) -> None:
    c.check([*_cases(op, 60), *_floats(op), _integers(op)], tmp_path)


@pytest.mark.parametrize("op", OPS)
def test_inlined_bodies_equal_the_reference(op: str, tmp_path: Path) -> None:
    c.check_inlined([*_cases(op, 6), *_floats(op), _integers(op)], tmp_path)


@pytest.mark.parametrize("op", OPS)
def test_zeros_among_the_divisors_fail(op: str) -> None:
    statuses = [case.outcome.status for case in _cases(op, 60)]
    assert statuses.count(0x0803) > 0
    assert statuses.count(0) > 60
    zero = _case(op, "zero", np.ones(1, np.float32), np.zeros(1, np.float32))
    assert zero.outcome.status == (0x0803 if op == "floor_divide" else 0)
