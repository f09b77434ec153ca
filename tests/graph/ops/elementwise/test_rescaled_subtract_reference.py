import pytest

from tests.kernels.elementwise import rescaleds

OP = "qnn.subtract"


@pytest.mark.parametrize("block", range(3))
def test_equals_the_definition(block: int) -> None:
    rescaleds.assert_defined(OP, range(block * 40, block * 40 + 40))


def test_constraints() -> None:
    rescaleds.check_constraints(OP)
