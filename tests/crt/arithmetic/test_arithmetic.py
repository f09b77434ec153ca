"""The C arithmetic of requantize.h and fixed_point.h, compared with numpy on all of int32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic import int8
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array
from microgen.graph.ops import fixed_point
from tests.crt.arithmetic.expressions import evaluated, of_int32

INT32 = np.iinfo(np.int32)
COUNT = 20000

DRIVER = of_int32(
    '#include "microgen/arithmetic/fixed_point.h"',
    '#include "microgen/requantization/requantize.h"',
)


def _anywhere(rng: np.random.Generator) -> Array:
    """int32 values of every magnitude, the ends, and numbers next to powers of two."""
    values = rng.integers(INT32.min, INT32.max, COUNT, endpoint=True) >> rng.integers(0, 32, COUNT)
    near = np.array([s * (1 << k) + d for k in range(31) for s in (1, -1) for d in (-1, 0, 1)])
    values[: near.size + 2] = np.r_[near, INT32.min, INT32.max]
    return values


def _in(low: int, high: int) -> Callable[[np.random.Generator], Array]:
    """Values in [low, high], including both ends."""

    def draw(rng: np.random.Generator) -> Array:
        values = rng.integers(low, high, COUNT, endpoint=True)
        values[:2] = low, high
        return rng.permuted(values)

    return draw


_MULTIPLIER = _in(1 << 30, INT32.max)
_SHIFT = _in(-31, 30)
_UNUSED = _in(0, 0)


def _double(x: Array, multiplier: Array, shift: Array) -> Array:
    return int8.multiply_by_quantized_multiplier(x, multiplier, shift, Rounding.DOUBLE)


def _single(x: Array, multiplier: Array, shift: Array) -> Array:
    return int8.multiply_by_quantized_multiplier(x, multiplier, shift, Rounding.SINGLE)


Draw = Callable[[np.random.Generator], Array]

CASES: dict[str, tuple[Draw, Draw, Draw, Callable[[Array, Array, Array], Array]]] = {
    "mg_shift_right(a[0], a[1])": (_anywhere, _in(0, 31), _UNUSED, lambda x, n, _: x >> n),
    "mg_multiply_high(a[0], a[1])": (
        *(_anywhere, _in(-INT32.max, INT32.max), _UNUSED),
        lambda a, b, _: int8.rounding_doubling_high_mul(a, b),
    ),
    "mg_divide_by_power_of_two(a[0], a[1])": (
        *(_anywhere, _in(0, 31), _UNUSED),
        lambda x, n, _: int8.rounding_divide_by_pot(x, n),
    ),
    "mg_requantize(a[0], a[1], a[2])": (_anywhere, _MULTIPLIER, _SHIFT, _double),
    "mg_requantize_single(a[0], a[1], a[2])": (_anywhere, _MULTIPLIER, _SHIFT, _single),
    "mg_saturating_shift_left(a[0], a[1])": (
        *(_anywhere, _in(1, 30), _UNUSED),
        lambda x, n, _: np.clip(x << n, INT32.min, INT32.max),
    ),
    "mg_exp_of_negative(a[0])": (
        *(_in(-(31 << 26), 0), _UNUSED, _UNUSED),
        lambda x, _a, _b: fixed_point.exp_of_negative(x),
    ),
    "mg_one_over_one_plus(a[0])": (
        *(_in(0, INT32.max), _UNUSED, _UNUSED),
        lambda x, _a, _b: fixed_point.one_over_one_plus(x),
    ),
}


@pytest.mark.parametrize("expression", CASES)
def test_c_equals_numpy(expression: str, tmp_path: Path) -> None:
    first, second, third, twin = CASES[expression]
    rng = np.random.default_rng(1)
    arguments = [draw(rng) for draw in (first, second, third)]
    found = evaluated(DRIVER, expression, np.stack(arguments, axis=1).astype("<i4"), tmp_path)
    expected = twin(*arguments)
    wrong = np.flatnonzero(found != expected)
    assert not wrong.size, (
        f"{expression} of {[int(a[wrong[0]]) for a in arguments]} is {found[wrong[0]]} in C, "
        f"{expected[wrong[0]]} in numpy"
    )
