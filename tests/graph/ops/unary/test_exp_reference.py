from __future__ import annotations

import pytest

from microgen.graph.ops.unary.functions import ExpAttrs
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
    check_random("exp", ExpAttrs(), "EXP", block)


def test_what_exceeds_the_output_saturates() -> None:
    values = results("exp", ExpAttrs(), *types(1, 1 / 64))
    assert (values[0], values[128], values[255]) == (0, 64, 127)


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("EXP", version=2)
    check_int16("exp", ExpAttrs(), operator, powers(-16, -9, (-18.0, -4.0)))


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("exp", ExpAttrs(), Operator("EXP"))
