"""Outputs that begin before their inputs equal the references on emulated cores, and the bytes
after both are not changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.graph.ir.graph import DType
from microgen.kernels import base
from microgen.target.cpu import Feature
from tests.kernels import test_lags as cases
from tests.qemu import test_mve_kernels as harness
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "needs"),
    [
        ("mps2_an385", base.REFERENCE),
        ("mps2_an386", base.DSP),
        ("mps3_an547", base.MVE),
    ],
)
def test_overlapping_outputs(board: str, needs: frozenset[Feature], tmp_path: Path) -> None:
    kinds = ("conv2d", "depthwise_conv2d", "max_pool2d", "avg_pool2d")
    every = [cases.CASES[kind](seed) for kind in kinds for seed in range(24)]
    calls = [
        call
        for case in every
        if case.output_dtype is DType.INT8
        for call in harness.overlapping(case, (needs,))
    ]
    assert any(call.lag for call in calls)
    bodies = [harness.shared(call.kernel, len(call.arguments)) for call in calls]
    unique = list(dict.fromkeys(bodies))
    harness.run(calls, unique, [unique.index(body) for body in bodies], tmp_path, board)
