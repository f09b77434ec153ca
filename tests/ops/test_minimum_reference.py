from __future__ import annotations

import pytest

from microgen.ops.base import Activation
from microgen.ops.minimum import OP, MinimumAttrs
from tests.ops import broadcasting
from tests.ops.litert_oracle import Case, assert_equal, needs_litert


def make(_activation: Activation) -> MinimumAttrs:
    return MinimumAttrs()


def random_case(seed: int) -> Case:
    return broadcasting.litert_case(
        seed,
        OP.name,
        "MINIMUM",
        "MaximumMinimumOptions",
        make,
        lambda lhs, _rhs: lhs.scale,
        has_activation=False,
    )


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert_whatever_the_quantizations(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize(
    ("scales", "zero_points"),
    [((0.5, 0.5, 0.5), (-3, -3, -3)), ((1.0, 0.5, 2.0), (3, -20, 9))],
)
def test_every_pair_of_values(scales: tuple[float, ...], zero_points: tuple[int, ...]) -> None:
    options = "MaximumMinimumOptions"
    case = broadcasting.all_pairs(OP.name, "MINIMUM", options, MinimumAttrs(), scales, zero_points)
    assert_equal(case)


def test_refusals() -> None:
    broadcasting.check_refusals(OP.name, MinimumAttrs())
