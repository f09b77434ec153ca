from __future__ import annotations

import pytest

from tests.kernels.elementwise import rescaleds

each_op = pytest.mark.parametrize("op", ["qnn.add", "qnn.subtract", "qnn.mul"])


@each_op
@pytest.mark.parametrize("block", range(3))
def test_equals_the_definition(block: int, op: str) -> None:
    rescaleds.assert_defined(op, range(block * 40, block * 40 + 40))


@each_op
def test_constraints(op: str) -> None:
    rescaleds.check_constraints(op)
