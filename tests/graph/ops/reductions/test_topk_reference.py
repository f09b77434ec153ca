"""topk in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.reductions.extremes import TOPK, TopKAttrs
from tests.kernels.moves.movement_cases import NUMBERS, topk


def _key(value: float, is_largest: bool) -> tuple[bool, float]:
    return math.isnan(value), 0 if math.isnan(value) else -value if is_largest else value


@pytest.mark.parametrize("seed", range(24))
def test_the_best_come_first(seed: int) -> None:
    case = topk(seed, NUMBERS[seed % len(NUMBERS)], (2, 9, 3), 1, 1 + seed % 9)
    attrs = case.attrs
    assert isinstance(attrs, TopKAttrs)
    for outer, inner in np.ndindex(2, 3):
        values = case.inputs[0].array[outer, :, inner].tolist()
        order = sorted(range(9), key=lambda i, v=values: _key(v[i], attrs.is_largest))  # type: ignore[misc]
        assert case.expected[outer, :, inner].tolist() == order[: attrs.k]


def test_dtypes() -> None:
    attrs = TopKAttrs(0, 1, True)
    flags, wide = TensorType((1,), DType.BOOL), TensorType((1,), DType.INT64)
    assert "must be numbers" in str(TOPK.check(attrs, [flags], [wide]))
    assert "must be int32 or int64" in str(TOPK.check(attrs, [wide], [flags]))
