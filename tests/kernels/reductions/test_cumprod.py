from __future__ import annotations

from pathlib import Path

from microgen.graph.ops.reductions.running import CUMPROD, CumprodAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.reductions.runnings import corners, random_case

CORNERS = list(corners(CUMPROD, CumprodAttrs))


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *(random_case(CUMPROD, CumprodAttrs, seed) for seed in range(60))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    cases = [*CORNERS, *(random_case(CUMPROD, CumprodAttrs, seed) for seed in range(6))]
    c.check_inlined(cases, tmp_path)
