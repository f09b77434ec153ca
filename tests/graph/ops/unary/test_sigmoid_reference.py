from __future__ import annotations

import pytest

from microgen.graph.ops.unary.sigmoid import SIGMOID, SigmoidAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.unary.unary_cases import (
    Operator,
    Ranges,
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
    check_random("sigmoid", SigmoidAttrs(), "LOGISTIC", block, Ranges(output_scale=1 / 256))


def test_an_output_that_does_not_span_0_to_1_is_refused() -> None:
    found = SIGMOID.check(SigmoidAttrs(), *([kind] for kind in types(0.1, 0.1)))
    assert found == "the output's scale is 0.1; it must be 1/256"


def test_half_at_zero_and_the_ends() -> None:
    values = results("sigmoid", SigmoidAttrs(), *types(1, 1 / 256, -128))
    assert (values[0], values[128], values[255]) == (-128, 0, 127)


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("LOGISTIC", version=3)
    check_int16("sigmoid", SigmoidAttrs(), operator, powers(-30, 2, 2.0**-15))


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("sigmoid", SigmoidAttrs(), Operator("LOGISTIC"))
