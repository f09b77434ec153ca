from pathlib import Path

from microgen.graph.ops.unary.roots import SQRT, SqrtAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

FLOATS = u.float_cases(SQRT.name, SqrtAttrs())
CORNERS = (
    *((0.5, 0.5), (1e30, 1e-30), (4.0, 1.0), (2.0**-126, 1e-20), (2.0**112, 1e17), (1.0, 1e-45)),
    *((0.25 * odd, 1 / 64) for odd in (1.0, 1 + 2.0**-23, 2 - 2.0**-23)),
    *((2.0**-20, 2.0**-10 / odd) for odd in (1 + 2.0**-23, 2 - 2.0**-23)),
)
INTEGERS = u.int16_cases(SQRT.name, SqrtAttrs(), CORNERS)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*FLOATS, *INTEGERS], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*FLOATS[:3], *INTEGERS[:3]], tmp_path)
