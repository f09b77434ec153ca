import functools
from pathlib import Path

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ops.elementwise.addition import ADD, AddAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import additions, broadcasting

NONE = AddAttrs(Activation.NONE)
_scaled = functools.partial(broadcasting.scaled_case, ADD.name, NONE)


def _random(count: int, others: int) -> list[c.Case]:
    return broadcasting.random_kernel_cases(ADD.name, AddAttrs, count, others)


CORNERS = (
    _scaled(1, "equal scales", 0.5, 0.5, 0.5),
    _scaled(2, "a tiny output scale", 1.0, 0.5, 2.0**-18),
    _scaled(3, "halves of the right operand", 1.0, (2**21 - 1) / 2**21, 2.0**-18),
    broadcasting.kernel_case(7, ADD.name, NONE, "a vector of channels", rhs=(5,)),
    broadcasting.kernel_case(8, ADD.name, AddAttrs(Activation.RELU6), "relu6"),
    _scaled(4, "a huge output scale", 1e-4, 1e-3, 1e5),
    _scaled(5, "a tiny right scale", 1.0, 1e-12, 1.0),
    _scaled(6, "a tiny left scale", 1e-9, 1.0, 1.0),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    by_shifts = additions.kernel_cases(ADD.name, AddAttrs(Activation.NONE, by_shifts=True))
    broadcasts = broadcasting.broadcast_cases(ADD.name, AddAttrs)
    broadcasts += broadcasting.high_rank_cases(ADD.name, AddAttrs)
    c.check([*CORNERS, *broadcasts, *_random(200, 50), *by_shifts], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *_random(6, 3)], tmp_path)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(ADD.name, NONE)


def test_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(ADD.name, NONE)
