from pathlib import Path

from microgen.ops.round import OP, RoundAttrs
from tests.ops import conformance as c
from tests.ops import unary_kernels as u

FLOATS = u.float_cases(OP.name, RoundAttrs())


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(FLOATS, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(FLOATS[:3], tmp_path)
