from __future__ import annotations

import functools

import pytest

from microgen.graph.ops.unary import roots
from microgen.graph.ops.unary.roots import RSQRT, RsqrtAttrs
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.unary.unary_cases import (
    EVERY_INT16,
    Operator,
    Ranges,
    check_floats,
    check_int16,
    check_random,
    powers,
    results,
    types,
)


@pytest.fixture(autouse=True)
def kept_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each case needs the same 255 roots, and they take longer than all else."""
    monkeypatch.setattr(roots, "_reciprocal_root", functools.cache(roots._reciprocal_root))


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    check_random("rsqrt", RsqrtAttrs(), "RSQRT", block, Ranges(zero_point=-128))


def test_0_and_below_give_the_greatest_output() -> None:
    values = results("rsqrt", RsqrtAttrs(), *types(1, 1 / 64))
    assert values[:129] == [127] * 129
    assert values[129:133] == [64, 45, 37, 32]


@pytest.mark.parametrize(
    ("scale_in", "scale_out", "expected"),
    [(2.0**-40, 2.0**-40, "the scales are too small"), (2.0**20, 2.0**8, "are too large")],
)
def test_scales_out_of_range_are_refused(scale_in: float, scale_out: float, expected: str) -> None:
    found = RSQRT.check(RsqrtAttrs(), *([kind] for kind in types(scale_in, scale_out)))
    assert expected in str(found)


@needs_litert
def test_int16_equals_litert() -> None:
    operator = Operator("RSQRT", version=3)
    check_int16(
        "rsqrt", RsqrtAttrs(), operator, powers(-16, 0, (-18.0, -4.0)), EVERY_INT16[2**15 :]
    )


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("rsqrt", RsqrtAttrs(), Operator("RSQRT"), least=0.0)
