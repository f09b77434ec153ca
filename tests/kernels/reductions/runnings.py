"""Cases of cumsum and cumprod."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import OpDefinition
from microgen.graph.ops.reductions.running import DTYPES, RunningAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import tensor


def _case(
    op: OpDefinition, seed: int, dtype: DType, shape: tuple[int, ...], attrs: RunningAttrs
) -> c.Case:
    data = tensor(np.random.default_rng(seed), shape, dtype)
    return c.Case(f"{shape} {attrs}", op.name, attrs, (data,), None, dtype)


def random_case(op: OpDefinition, kind: type[RunningAttrs], seed: int) -> c.Case:
    """A case of any shape, axis and dtype."""
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    attrs = kind(int(rng.integers(len(shape))), *(bool(n) for n in rng.integers(0, 2, 2)))
    return _case(op, seed, DTYPES[seed % len(DTYPES)], shape, attrs)


def corners(op: OpDefinition, kind: type[RunningAttrs]) -> Iterator[c.Case]:
    """One value, one axis and several axes, in all directions."""
    for dtype in DTYPES:
        for shape, axis in (((1,), 0), ((7,), 0), ((2, 3, 4), 1)):
            for exclusive, reverse in itertools.product((False, True), repeat=2):
                yield _case(op, 1, dtype, shape, kind(axis, exclusive, reverse))
