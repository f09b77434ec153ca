from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.reduction import ALL, AllAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import tensor
from tests.kernels.reductions.reductions import SHAPES_AND_AXES


def _case(seed: int) -> c.Case:
    """Mostly true values, so that some of their conjunctions are true."""
    shape, axes = SHAPES_AND_AXES[seed % len(SHAPES_AND_AXES)]
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, DType.BOOL)
    array = data.array | (rng.random(shape) < 1 - 0.5 / data.array.size)
    attrs = AllAttrs(axes, keep_dims=seed % 2 == 0)
    return c.Case(f"all {seed}", ALL.name, attrs, (c.Tensor(data.type, array),), None, DType.BOOL)


CASES = [_case(seed) for seed in range(3 * len(SHAPES_AND_AXES))]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES[:15], tmp_path)


def test_both_results_occur() -> None:
    found = np.concatenate([case.outcome.arrays[0].reshape(-1) for case in CASES])
    assert found.any()
    assert not found.all()
