from __future__ import annotations

import pytest

from microgen.ops.add import OP, AddAttrs
from microgen.ops.base import Activation
from tests.ops import broadcasting
from tests.ops.litert_oracle import Case, activation_type, assert_equal, needs_litert


def random_case(seed: int) -> Case:
    return broadcasting.litert_case(
        seed, OP.name, "ADD", "AddOptions", AddAttrs, lambda lhs, _rhs: 2 * lhs.scale
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
def test_floats_equal_litert() -> None:
    for seed in range(50):
        assert_equal(broadcasting.litert_float_case(seed, OP.name, "ADD", "AddOptions", AddAttrs))


def test_refusals() -> None:
    broadcasting.check_refusals(OP.name, AddAttrs(Activation.NONE))


def test_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-19, 0)
    attrs = AddAttrs(Activation.NONE)
    assert "2**19 times the output scale" in str(OP.check(attrs, [data, data], [output]))
