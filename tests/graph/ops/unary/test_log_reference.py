from __future__ import annotations

import pytest

from microgen.graph.ops.unary.functions import LogAttrs
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
    check_random("log", LogAttrs(), "LOG", block)


def test_what_is_not_positive_gives_the_least_output() -> None:
    values = results("log", LogAttrs(), *types(1, 1 / 16, 5))
    assert values[:129] == [-128] * 129
    assert values[129] == 5


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("LOG", version=2)
    check_int16("log", LogAttrs(), operator, powers(-16, 0, (-18.0, -4.0)))


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("log", LogAttrs(), Operator("LOG"), least=0.0)
