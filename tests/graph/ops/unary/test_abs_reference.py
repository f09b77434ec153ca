from __future__ import annotations

import pytest

from microgen.graph.ops.unary.functions import ABS, AbsAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.unary.unary_cases import (
    Operator,
    check_floats,
    check_int16,
    check_random,
    powers,
    types,
)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    check_random("abs", AbsAttrs(), "ABS", block)


def test_a_ratio_of_scales_out_of_range_is_refused() -> None:
    found = ABS.check(AbsAttrs(), *([kind] for kind in types(1, 2.0**-40)))
    assert "output's scale is too small for the input's" in str(found)


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("ABS", version=1)
    check_int16("abs", AbsAttrs(), operator, powers(-16, -4, (-16.0, -4.0)))


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("abs", AbsAttrs(), Operator("ABS"))
