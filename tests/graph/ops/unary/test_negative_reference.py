from __future__ import annotations

import pytest

from microgen.graph.ops.unary.functions import NegativeAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.unary.unary_cases import (
    Operator,
    check_floats,
    check_int16,
    check_random,
    powers,
    results,
    types,
)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    check_random("negative", NegativeAttrs(), "NEG", block)


def test_the_least_value_stays() -> None:
    values = results("negative", NegativeAttrs(), *types(1, 1))
    assert (values[0], values[1], values[255]) == (-128, 127, -127)


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("NEG", version=1)
    check_int16("negative", NegativeAttrs(), operator, powers(-16, -4, (-16.0, -4.0)))


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("negative", NegativeAttrs(), Operator("NEG"))
