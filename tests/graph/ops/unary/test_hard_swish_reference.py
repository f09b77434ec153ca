from __future__ import annotations

import pytest

from microgen.graph.ops.unary.activations import HARD_SWISH, HardSwishAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.unary.unary_cases import (
    Operator,
    check_floats,
    check_int16_is_refused,
    check_random,
    types,
)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    check_random("nn.hard_swish", HardSwishAttrs(), "HARD_SWISH", block)


@pytest.mark.parametrize(
    ("scale_in", "scale_out", "expected"),
    [(128.0, 0.9, "is 128 times the output's"), (2.0**30, 1.0, "are out of range")],
)
def test_scales_out_of_range_are_refused(scale_in: float, scale_out: float, expected: str) -> None:
    found = HARD_SWISH.check(HardSwishAttrs(), *([kind] for kind in types(scale_in, scale_out)))
    assert expected in str(found)


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("nn.hard_swish", HardSwishAttrs(), Operator("HARD_SWISH"))


def test_int16_is_refused() -> None:
    check_int16_is_refused("nn.hard_swish", HardSwishAttrs())
