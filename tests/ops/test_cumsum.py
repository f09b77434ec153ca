from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from microgen.ir.graph import DType
from microgen.ops.cumsum import DTYPES, OP, CumsumAttrs
from tests.ops import conformance as c
from tests.ops.every_dtype import tensor


def _case(seed: int, dtype: DType, shape: tuple[int, ...], attrs: CumsumAttrs) -> c.Case:
    data = tensor(np.random.default_rng(seed), shape, dtype)
    return c.Case(f"{shape} {attrs}", OP.name, attrs, (data,), None, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    attrs = CumsumAttrs(int(rng.integers(len(shape))), *(bool(n) for n in rng.integers(0, 2, 2)))
    return _case(seed, DTYPES[seed % len(DTYPES)], shape, attrs)


CORNERS = [
    _case(1, dtype, shape, CumsumAttrs(axis, exclusive, reverse))
    for dtype in DTYPES
    for shape, axis in (((1,), 0), ((7,), 0), ((2, 3, 4), 1))
    for exclusive, reverse in itertools.product((False, True), repeat=2)
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(60))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
