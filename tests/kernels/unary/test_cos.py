from pathlib import Path

from microgen.graph.ops.unary.functions import COS, CosAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.unary import unary_kernels as u

FLOATS = u.float_cases(COS.name, CosAttrs())


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(FLOATS, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(FLOATS[:3], tmp_path)
