import functools
from pathlib import Path

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.addition import SQUARED_DIFFERENCE, SquaredDifferenceAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting

ATTRS = SquaredDifferenceAttrs()
_scaled = functools.partial(broadcasting.scaled_case, SQUARED_DIFFERENCE.name, ATTRS)
DTYPES = (DType.INT32, DType.FLOAT32)


def _make(_activation: Activation) -> SquaredDifferenceAttrs:
    return ATTRS


def _random(seed: int) -> c.Case:
    """A case with a random output scale, from just above the smallest that the op accepts."""
    rng = np.random.default_rng(1000 + seed)
    lhs, rhs = (float(10 ** rng.uniform(-3, 0)) for _ in range(2))
    output = max(lhs, rhs) ** 2 * float(2 ** rng.uniform(-11.9, 10))
    return _scaled(seed, f"random {seed}", lhs, rhs, output)


def _others(count: int) -> list[c.Case]:
    return broadcasting.random_kernel_cases(SQUARED_DIFFERENCE.name, _make, 0, count, DTYPES)


CORNERS = (
    _scaled(1, "equal scales", 1.0, 1.0, 1.0),
    _scaled(2, "the least output scale", 1.0, 1.0, 2.0**-12 + 2.0**-30),
    _scaled(3, "a huge output scale", 1.0, 1.0, 1e12),
    _scaled(4, "a tiny right scale", 1.0, 1e-12, 1.0),
    _scaled(5, "a tiny left scale", 1e-9, 1.0, 1.0),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    broadcasts = broadcasting.broadcast_cases(SQUARED_DIFFERENCE.name, _make)
    broadcasts += broadcasting.high_rank_cases(SQUARED_DIFFERENCE.name, _make)
    c.check([*CORNERS, *broadcasts, *map(_random, range(100)), *_others(50)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6)), *_others(3)], tmp_path)


def test_in_place_only_on_an_operand_of_the_outputs_shape() -> None:
    broadcasting.check_in_place(SQUARED_DIFFERENCE.name, ATTRS)


def test_more_than_four_axes_are_refused() -> None:
    broadcasting.check_too_many_axes(SQUARED_DIFFERENCE.name, ATTRS)
