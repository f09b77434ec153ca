from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.addition import (
    ADD,
    SQUARED_DIFFERENCE,
    SUBTRACT,
    AddAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import additions, broadcasting

ADD_NONE = AddAttrs(Activation.NONE)
_add_scaled = functools.partial(broadcasting.scaled_case, ADD.name, ADD_NONE)


def _add_random(count: int, others: int) -> list[c.Case]:
    return broadcasting.random_kernel_cases(ADD.name, AddAttrs, count, others)


ADD_CORNERS = (
    _add_scaled(1, "equal scales", 0.5, 0.5, 0.5),
    _add_scaled(2, "a tiny output scale", 1.0, 0.5, 2.0**-18),
    _add_scaled(3, "halves of the right operand", 1.0, (2**21 - 1) / 2**21, 2.0**-18),
    broadcasting.kernel_case(7, ADD.name, ADD_NONE, "a vector of channels", rhs=(5,)),
    broadcasting.kernel_case(8, ADD.name, AddAttrs(Activation.RELU6), "relu6"),
    _add_scaled(4, "a huge output scale", 1e-4, 1e-3, 1e5),
    _add_scaled(5, "a tiny right scale", 1.0, 1e-12, 1.0),
    _add_scaled(6, "a tiny left scale", 1e-9, 1.0, 1.0),
)


def test_add_kernels_equal_the_reference(tmp_path: Path) -> None:
    by_shifts = additions.kernel_cases(ADD.name, AddAttrs(Activation.NONE, by_shifts=True))
    broadcasts = broadcasting.broadcast_cases(ADD.name, AddAttrs)
    broadcasts += broadcasting.high_rank_cases(ADD.name, AddAttrs)
    c.check([*ADD_CORNERS, *broadcasts, *_add_random(200, 50), *by_shifts], tmp_path)


def test_add_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*ADD_CORNERS, *_add_random(6, 3)], tmp_path)


def test_add_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(ADD.name, ADD_NONE)


def test_add_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(ADD.name, ADD_NONE)


SUBTRACT_NONE = SubtractAttrs(Activation.NONE)
_subtract_scaled = functools.partial(broadcasting.scaled_case, SUBTRACT.name, SUBTRACT_NONE)


def _subtract_random(count: int, others: int) -> list[c.Case]:
    return broadcasting.random_kernel_cases(SUBTRACT.name, SubtractAttrs, count, others)


SUBTRACT_CORNERS = (
    _subtract_scaled(1, "equal scales", 0.5, 0.5, 0.5),
    _subtract_scaled(2, "a tiny output scale", 1.0, 0.5, 2.0**-18),
    _subtract_scaled(3, "halves of the right operand", 1.0, (2**21 - 1) / 2**21, 2.0**-18),
    _subtract_scaled(4, "a huge output scale", 1e-4, 1e-3, 1e5),
    _subtract_scaled(5, "a tiny right scale", 1.0, 1e-12, 1.0),
    _subtract_scaled(6, "a tiny left scale", 1e-9, 1.0, 1.0),
)


def test_subtract_kernels_equal_the_reference(tmp_path: Path) -> None:
    by_shifts = additions.kernel_cases(
        SUBTRACT.name, SubtractAttrs(Activation.NONE, by_shifts=True)
    )
    broadcasts = broadcasting.broadcast_cases(SUBTRACT.name, SubtractAttrs)
    broadcasts += broadcasting.high_rank_cases(SUBTRACT.name, SubtractAttrs)
    c.check([*SUBTRACT_CORNERS, *broadcasts, *_subtract_random(200, 50), *by_shifts], tmp_path)


def test_subtract_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*SUBTRACT_CORNERS, *_subtract_random(6, 3)], tmp_path)


def test_subtract_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(SUBTRACT.name, SUBTRACT_NONE)


def test_subtract_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(SUBTRACT.name, SUBTRACT_NONE)


ATTRS = SquaredDifferenceAttrs()
_squared_difference_scaled = functools.partial(
    broadcasting.scaled_case, SQUARED_DIFFERENCE.name, ATTRS
)
DTYPES = (DType.INT32, DType.FLOAT32)


def _make(_activation: Activation) -> SquaredDifferenceAttrs:
    return ATTRS


def _squared_difference_random(seed: int) -> c.Case:
    """A case with a random output scale, from just above the smallest that the op accepts."""
    rng = np.random.default_rng(1000 + seed)
    lhs, rhs = (float(10 ** rng.uniform(-3, 0)) for _ in range(2))
    output = max(lhs, rhs) ** 2 * float(2 ** rng.uniform(-11.9, 10))
    return _squared_difference_scaled(seed, f"random {seed}", lhs, rhs, output)


def _others(count: int) -> list[c.Case]:
    return broadcasting.random_kernel_cases(SQUARED_DIFFERENCE.name, _make, 0, count, DTYPES)


SQUARED_DIFFERENCE_CORNERS = (
    _squared_difference_scaled(1, "equal scales", 1.0, 1.0, 1.0),
    _squared_difference_scaled(2, "the least output scale", 1.0, 1.0, 2.0**-12 + 2.0**-30),
    _squared_difference_scaled(3, "a huge output scale", 1.0, 1.0, 1e12),
    _squared_difference_scaled(4, "a tiny right scale", 1.0, 1e-12, 1.0),
    _squared_difference_scaled(5, "a tiny left scale", 1e-9, 1.0, 1.0),
)


def test_squared_difference_kernels_equal_the_reference(tmp_path: Path) -> None:
    broadcasts = broadcasting.broadcast_cases(SQUARED_DIFFERENCE.name, _make)
    broadcasts += broadcasting.high_rank_cases(SQUARED_DIFFERENCE.name, _make)
    c.check(
        [
            *SQUARED_DIFFERENCE_CORNERS,
            *broadcasts,
            *map(_squared_difference_random, range(100)),
            *_others(50),
        ],
        tmp_path,
    )


def test_squared_difference_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(
        [*SQUARED_DIFFERENCE_CORNERS, *map(_squared_difference_random, range(6)), *_others(3)],
        tmp_path,
    )


def test_squared_difference_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(SQUARED_DIFFERENCE.name, ATTRS)


def test_squared_difference_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(SQUARED_DIFFERENCE.name, ATTRS)
