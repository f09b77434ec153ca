from pathlib import Path

from microgen.graph.ops.unary.sigmoid import TANH, TanhAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

FLOATS = u.float_cases(TANH.name, TanhAttrs())
CORNERS = tuple(
    (scale, 1 / 32768) for scale in (2.0**-12, 2.0**-11, 2.0**-13, 3.8e-14, 5.3, 1.0005 * 2.0**-12)
)
INTEGERS = u.int16_cases(TANH.name, TanhAttrs(), CORNERS, 1 / 32768)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*FLOATS, *INTEGERS], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*FLOATS[:3], *INTEGERS[:3]], tmp_path)
