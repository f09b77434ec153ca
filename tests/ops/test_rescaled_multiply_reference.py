import pytest

from microgen.arithmetic.terms import Rounding
from microgen.ir.graph import DType
from tests.ops import rescaleds

OP = "qnn.mul"


@pytest.mark.parametrize("block", range(3))
def test_equals_the_definition(block: int) -> None:
    rescaleds.assert_defined(OP, range(block * 40, block * 40 + 40))


def test_constraints() -> None:
    assert rescaleds.sentence(OP) is None
    assert "left input is uint8[2]" in str(rescaleds.sentence(OP, dtype=DType.UINT8))
    assert "zero point is 128" in str(rescaleds.sentence(OP, rhs_zero_point=128))
    assert "a scale is -1" in str(rescaleds.sentence(OP, output_scale=-1.0))
    assert "too small" in str(rescaleds.sentence(OP, output_scale=2.0**-40))
    assert "rounded 'double'" in str(rescaleds.sentence(OP, rounding=Rounding.DOUBLE))
