from pathlib import Path

from microgen.graph.ops.unary.functions import NEGATIVE, NegativeAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

FLOATS = u.float_cases(NEGATIVE.name, NegativeAttrs())
CORNERS = ((0.5, 0.5),)
INTEGERS = u.int16_cases(NEGATIVE.name, NegativeAttrs(), CORNERS)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*FLOATS, *INTEGERS], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*FLOATS[:3], *INTEGERS[:3]], tmp_path)
