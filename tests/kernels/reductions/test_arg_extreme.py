from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.reductions.extremes import (
    ArgExtremeAttrs,
    ArgMaxAttrs,
    ArgMinAttrs,
    TopKAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import NUMBERS, topk
from tests.kernels.reductions.arg_extremes import DTYPES, check_kernels


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize(("op", "attrs"), [("argmax", ArgMaxAttrs), ("argmin", ArgMinAttrs)])
def test_kernels_equal_the_reference(
    op: str, attrs: type[ArgExtremeAttrs], dtype: DType, tmp_path: Path
) -> None:
    check_kernels(op, attrs, dtype, tmp_path)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    k = int(rng.integers(1, shape[axis] + 1))
    return topk(seed, NUMBERS[seed % len(NUMBERS)], shape, axis, k)


CORNERS = [
    topk(seed, dtype, *one)
    for seed, dtype in enumerate(NUMBERS * 2)
    for one in (((1,), 0, 1), ((40,), 0, 40), ((3, 30, 2), 1, 7))
]


def test_topk_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(140))], tmp_path)


def test_topk_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(7))], tmp_path)


@pytest.mark.parametrize(("axis", "k"), [(1, 1), (0, 4), (0, 0)])
def test_topk_impossible_attributes_are_refused(axis: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"the axis 1 is not|1 to 3 are expected"):
        registry()["topk"].infer(TopKAttrs(axis, k, True), [ArrayType((3,), DType.INT8)])
