from __future__ import annotations

from pathlib import Path

from microgen.ops.cumsum import OP, CumsumAttrs
from tests.ops import conformance as c
from tests.ops.runnings import corners, random_case

CORNERS = list(corners(OP, CumsumAttrs))


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *(random_case(OP, CumsumAttrs, seed) for seed in range(60))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    cases = [*CORNERS, *(random_case(OP, CumsumAttrs, seed) for seed in range(6))]
    c.check_inlined(cases, tmp_path)
