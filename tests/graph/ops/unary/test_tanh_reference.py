from __future__ import annotations

import pytest

from microgen.graph.ops import registry
from microgen.graph.ops.unary.sigmoid import TanhAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.unary.unary_cases import (
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
    check_random("tanh", TanhAttrs(), "TANH", block)


@needs_litert
def test_equals_litert_with_the_usual_output() -> None:
    check_random("tanh", TanhAttrs(), "TANH", 9, Ranges(output_scale=1 / 128))


def test_an_exact_half_that_tanhf_gives_rounds_away_from_zero() -> None:
    # the correct tanh is -0.95703122; LiteRT has -122.5/128 and thus -123
    data, output = types(0.09546775370836258, 1 / 128)
    assert results("tanh", TanhAttrs(), data, output)[128 - 20] == -123


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("TANH", version=3)
    check_int16("tanh", TanhAttrs(), operator, powers(-30, 2, 2.0**-15))


@needs_litert
def test_int16_of_the_least_scales_equals_litert() -> None:
    operator = Operator("TANH", version=3)
    check_int16("tanh", TanhAttrs(), operator, powers(-44.5, -30, 2.0**-15))


@pytest.mark.parametrize("op", ["tanh", "sigmoid"])
def test_int16_is_refused_where_tflite_shifts_out_of_int32(op: str) -> None:
    """LiteRT gives -32767 for odd values there, and TensorFlow Lite Micro has the same code."""
    attrs = registry()[op].attrs()
    output = int16_type(2.0**-15)
    assert registry()[op].check(attrs, [int16_type(3.8e-14)], [output]) is None
    found = registry()[op].check(attrs, [int16_type(3.7e-14)], [output])
    assert found == "the input's scale is 3.7e-14; it must be 3.78956e-14 or more"


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("tanh", TanhAttrs(), Operator("TANH"))
