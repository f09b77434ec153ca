"""Factors of 64 bits round sums of int32 as scales in double do, or they are refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from microgen.base.errors import ProjectError
from microgen.graph.arithmetic import int8, int16
from microgen.graph.ir.graph import Array
from microgen.kernels.requantization import transforms, wide_factors

LAST = 2**31 - 1


def _factors(scales: Array, rounding: str) -> Array:
    """The factors in Python's integers."""
    arguments: dict[str, float | int | str] = {
        "input_scale": 1.0,
        "output_scale": 1.0,
        "channels": scales.size,
        "rule": "conv",
    }
    arguments["rounding"] = rounding
    table = transforms.apply("wide_factors", [scales.astype(np.float32)], arguments)
    assert table.dtype.name == "int32"
    assert table.shape == (scales.size, 2)
    low, high = table.astype(object).T
    return np.asarray(low + high * 2**32)


def _results(sums: Array, factor: int) -> Array:
    """What kernels compute, in Python's integers."""
    exact = (sums.astype(object) * factor + 2**63) // 2**64
    return np.asarray(np.clip(exact, -(2**15), 2**15 - 1).astype(np.int64))


def _expected(sums: Array, scale: float) -> Array:
    expected = int16.multiply_real(sums, scale)
    return np.asarray(np.clip(expected, -(2**15), 2**15 - 1).astype(np.int64))


def _near_steps(scale: float) -> Array:
    """The sums on both sides of every step of the results, and the largest."""
    steps = (np.arange(2**15) + 0.5) / scale
    near = np.concatenate([np.floor(steps) + k for k in (-1, 0, 1, 2)])
    near = near[near <= LAST].astype(np.int64)
    return np.concatenate([near, -near, [LAST, -LAST, 0]])


@pytest.mark.parametrize("seed", range(12))
def test_random_scales_at_every_step(seed: int) -> None:
    scale = float(np.float32(2.0 ** np.random.default_rng(seed).uniform(-18, -2)))
    (factor,) = _factors(np.array([scale]), "real")
    sums = _near_steps(scale)
    np.testing.assert_array_equal(_results(sums, factor), _expected(sums, scale))


@pytest.mark.parametrize("scale", [2.0**-2, 2.0**-9, 2.0**-16, 3 * 2.0**-11, 0.4375])
def test_ties_are_rounded_away_from_zero(scale: float) -> None:
    (factor,) = _factors(np.array([scale]), "real")
    sums = np.arange(-(2**17), 2**17)
    products = sums * scale
    assert (np.abs(products - np.trunc(products)) == 0.5).any()
    np.testing.assert_array_equal(_results(sums, factor), _expected(sums, scale))


def test_a_product_that_double_rounds_up_to_a_tie_is_refused() -> None:
    refused = 0
    for odd in range(1001, 1401, 2):  # scales whose product with it is nearly a tie
        scale = 100.5 / odd
        exact = Fraction(scale) * odd
        if odd * scale != 100.5 or Fraction(201, 2) - exact <= Fraction(odd, 2**64):
            continue
        with pytest.raises(ValueError, match="no factor was found"):
            wide_factors.proven(scale)
        refused += 1
    assert refused


def test_reduced_factors_are_those_of_the_two_step_form() -> None:
    rng = np.random.default_rng(3)
    scales = (2.0 ** rng.uniform(-40, -1.01, 60)).astype(np.float32)
    multiplier, shift = int8.per_channel_multipliers(scales.astype(np.float64))
    sums = np.concatenate([rng.integers(-LAST, LAST, 300), [LAST, -LAST, 0]])
    for i, factor in enumerate(_factors(scales, "reduced")):
        expected = int16.multiply_reduced(sums, int(multiplier[i]), int(shift[i]))
        clipped = np.clip(expected, -(2**15), 2**15 - 1)
        np.testing.assert_array_equal(_results(sums, factor), clipped)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0**-31])
def test_scales_without_a_factor(scale: float) -> None:
    with pytest.raises(ProjectError, match="the scale"):
        _factors(np.array([scale]), "real")


def test_reduced_scales_of_a_half_and_other_roundings_are_refused() -> None:
    with pytest.raises(ProjectError, match="a scale is 1/2 or more"):
        _factors(np.array([0.5]), "reduced")
    with pytest.raises(ProjectError, match="factors do not round 'double'"):
        _factors(np.array([0.1]), "double")
