from pathlib import Path

from microgen.graph.ops.unary.functions import ROUND, RoundAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

FLOATS = u.float_cases(ROUND.name, RoundAttrs())


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(FLOATS, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(FLOATS[:3], tmp_path)
