from __future__ import annotations

from pathlib import Path

import pytest

from microgen.graph.ops.base import OpDefinition
from microgen.graph.ops.reductions.running import (
    CUMPROD,
    CUMSUM,
    CumprodAttrs,
    CumsumAttrs,
    RunningAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.reductions.runnings import corners, random_case

both = pytest.mark.parametrize(
    ("op", "attrs"), [(CUMSUM, CumsumAttrs), (CUMPROD, CumprodAttrs)], ids=["cumsum", "cumprod"]
)


def _cases(op: OpDefinition, attrs: type[RunningAttrs], count: int) -> list[c.Case]:
    return [*corners(op, attrs), *(random_case(op, attrs, seed) for seed in range(count))]


@both
def test_kernels_equal_the_reference(
    op: OpDefinition, attrs: type[RunningAttrs], tmp_path: Path
) -> None:
    c.check(_cases(op, attrs, 60), tmp_path)


@both
def test_inlined_bodies_equal_the_reference(
    op: OpDefinition, attrs: type[RunningAttrs], tmp_path: Path
) -> None:
    c.check_inlined(_cases(op, attrs, 6), tmp_path)
