from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgen.graph.arithmetic import int16
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant

sums = st.integers(-int16.SUM_LIMIT, int16.SUM_LIMIT)
OUTPUT = ArrayType((1,), DType.INT16, Quant((1.0,), (0,)))


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


@given(sums, st.integers(2**30, 2**31 - 1), st.integers(-31, 14))
def test_reduced_rounds_once_ties_upwards(x: int, multiplier: int, shift: int) -> None:
    """The rule of TFLite's common.cc, in Python's integers."""
    reduced = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    exact = Fraction(x * reduced, 2 ** (15 - shift))
    expected = wrapped((exact + Fraction(1, 2)).__floor__())
    found = int16.multiply_reduced(np.array([x]), multiplier, shift)
    assert found.dtype == np.int32
    assert found[0] == expected


@pytest.mark.parametrize(
    ("x", "scale", "expected"),
    [(1, 0.5, 1), (-1, 0.5, -1), (1, 0.49999999999999994, 0), (-3, 0.5, -2), (7, 0.0, 0)],
)
def test_real_rounds_halves_away_from_zero(x: int, scale: float, expected: int) -> None:
    assert int16.multiply_real(np.array([x]), scale)[0] == expected


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        (Rounding.REDUCED, [-1, 2, 32767]),  # -1.5 and 1.5; ties go upwards
        (Rounding.REAL, [-2, 2, 32767]),  # ties away from zero
        (Rounding.DOUBLE, [-1, 2, 32767]),  # the first rounding decides: towards zero
    ],
)
def test_roundings_differ_at_ties(rounding: Rounding, expected: list[int]) -> None:
    accumulator = np.array([-3, 3, 2**20], np.int64)
    scales = np.array([0.5])
    found = int16.requantize16(accumulator, scales, rounding, OUTPUT, Activation.NONE)
    assert found.dtype == np.int16
    assert found.tolist() == expected


def test_double_takes_sums_modulo_two_to_the_32nd() -> None:
    scales, accumulator = np.array([0.25]), np.array([2**32 + 20], np.int64)
    args = (OUTPUT, Activation.NONE)
    assert int16.requantize16(accumulator, scales, Rounding.DOUBLE, *args).tolist() == [5]
    assert int16.requantize16(accumulator, scales, Rounding.REDUCED, *args).tolist() == [32767]


def test_no_int16_operator_rounds_single() -> None:
    with pytest.raises(ValueError, match="not rounded 'single'"):
        int16.requantize16(
            np.zeros(1, np.int64), np.ones(1), Rounding.SINGLE, OUTPUT, Activation.NONE
        )
