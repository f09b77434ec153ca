from __future__ import annotations

import pytest

from microgen.graph.ops.unary.roots import SQRT, SqrtAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.unary.unary_cases import (
    EVERY_INT16,
    Operator,
    Ranges,
    check_floats,
    check_int16,
    check_random,
    int16_type,
    powers,
    results,
    types,
)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    check_random("sqrt", SqrtAttrs(), "SQRT", block, Ranges(zero_point=-128))


def test_int16_scales_out_of_range_are_refused() -> None:
    for scale in (1e-38, 1e34):
        found = SQRT.check(SqrtAttrs(), [int16_type(scale)], [int16_type(1.0)])
        assert "it must be from 1.17549e-38 to 5.1923e+33" in str(found)


def test_roots_are_truncated_and_negative_values_count_as_0() -> None:
    values = results("sqrt", SqrtAttrs(), *types(1, 1))
    assert values[:129] == [0] * 129
    assert values[129:138] == [1, 1, 1, 2, 2, 2, 2, 2, 3]


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("SQRT", version=2)
    check_int16("sqrt", SqrtAttrs(), operator, powers(-16, 0, (-18.0, -4.0)), EVERY_INT16[2**15 :])


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("sqrt", SqrtAttrs(), Operator("SQRT"))
