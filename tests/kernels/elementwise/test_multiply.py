import functools
from pathlib import Path

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ops.elementwise.product import MULTIPLY, MultiplyAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting

NONE = MultiplyAttrs(Activation.NONE)
_scaled = functools.partial(broadcasting.scaled_case, MULTIPLY.name, NONE)


def _random(count: int, others: int) -> list[c.Case]:
    return broadcasting.random_kernel_cases(MULTIPLY.name, MultiplyAttrs, count, others)


CORNERS = (
    _scaled(1, "halves", 0.5, 1.0, 1.0),
    _scaled(2, "a tiny output scale, which wraps around", 1.0, 1.5, 2.0**-29),
    _scaled(3, "a huge output scale", 1.0, 1.0, 2.0**31),
    _scaled(4, "a multiplier of 0", 1e-12, 1e-12, 1.0),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    broadcasts = broadcasting.broadcast_cases(MULTIPLY.name, MultiplyAttrs)
    broadcasts += broadcasting.high_rank_cases(MULTIPLY.name, MultiplyAttrs)
    c.check([*CORNERS, *broadcasts, *_random(200, 50)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *_random(6, 3)], tmp_path)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(MULTIPLY.name, NONE)


def test_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(MULTIPLY.name, NONE)
