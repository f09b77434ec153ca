from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise.rescaleds import random_case

each_op = pytest.mark.parametrize("op", ["qnn.add", "qnn.subtract", "qnn.mul"])


@each_op
def test_kernels_equal_the_reference(op: str, tmp_path: Path) -> None:
    c.check([random_case(op, seed) for seed in range(120)], tmp_path)


@each_op
def test_inlined_bodies_equal_the_reference(op: str, tmp_path: Path) -> None:
    c.check_inlined([random_case(op, seed) for seed in range(6)], tmp_path)
