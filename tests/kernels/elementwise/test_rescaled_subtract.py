from pathlib import Path

from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise.rescaleds import random_case

OP = "qnn.subtract"


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([random_case(OP, seed) for seed in range(120)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([random_case(OP, seed) for seed in range(6)], tmp_path)
