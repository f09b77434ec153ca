"""Prints the polynomials of float_math.h and float_angles.h: coefficients as float32 literals.

Each is the polynomial P of the given degree with the least max |weight * (P - f)| over an interval.
Remez's exchange in float64 finds it. Its coefficients are then rounded to float32, and the printed
error is that of the rounded coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
GRID = 200_001
ROUNDS = 20


@dataclass(frozen=True)
class Problem:
    """``weight`` makes the error of P the relative error of the function that uses P."""

    name: str
    function: Callable[[Array], Array]
    weight: Callable[[Array], Array]
    low: float
    high: float
    degree: int


def _exp(r: Array) -> Array:
    """(exp(r) - 1 - r) / r^2, by its series: no cancellation."""
    factorials = np.cumprod(np.arange(1.0, 21.0))
    return np.polynomial.polynomial.polyval(r, 1 / factorials[1:])


def _log(z: Array) -> Array:
    """(log((1 + s) / (1 - s)) / s - 2) / s^2 with z = s^2, by its series."""
    return np.polynomial.polynomial.polyval(z, [2 / (2 * k + 3) for k in range(16)])


def _tanh(z: Array) -> Array:
    """(tanh(x) / x - 1) / x^2 with z = x^2."""
    x = np.sqrt(z)
    return (np.tanh(x) / x - 1) / z


def _sin(z: Array) -> Array:
    """(sin(x) / x - 1) / x^2 with z = x^2, by its series."""
    factorials = np.cumprod(np.arange(1.0, 22.0))
    return np.polynomial.polynomial.polyval(z, (-1.0) ** np.arange(1, 10) / factorials[2:20:2])


def _cos(z: Array) -> Array:
    """(cos(x) - 1 + x^2 / 2) / x^4 with z = x^2, by its series."""
    factorials = np.cumprod(np.arange(1.0, 22.0))
    return np.polynomial.polynomial.polyval(z, (-1.0) ** np.arange(9) / factorials[3:21:2])


PROBLEMS = (
    Problem("exp", _exp, lambda r: np.abs(r * r / np.expm1(r)), -0.3475, 0.3475, 5),
    Problem("log", _log, lambda z: z / (2 + z * _log(z)), 0.0, 0.02945, 2),
    Problem("sin", _sin, lambda z: z / (1 + z * _sin(z)), 0.0, 0.617, 3),
    Problem("cos", _cos, lambda z: z * z / np.cos(np.sqrt(z)), 0.0, 0.617, 2),
    Problem("tanh", _tanh, lambda z: z / (1 + z * _tanh(z)), 1e-4, 0.3026, 4),
)


def remez(problem: Problem) -> Array:
    """The coefficients, lowest order first."""
    grid = np.linspace(problem.low, problem.high, GRID)
    grid = grid[grid != 0]  # where a weight may be 0 / 0
    wanted, weight = problem.function(grid), problem.weight(grid)
    count = problem.degree + 2
    angles = np.pi * (np.arange(count) + 0.5) / count
    at = np.searchsorted(grid, np.mean(grid[[0, -1]]) - np.cos(angles) * np.ptp(grid) / 2)
    for _ in range(ROUNDS):
        powers = np.vander(grid[at], problem.degree + 1, increasing=True)
        levels = (-1.0) ** np.arange(count) / weight[at]
        coefficients = np.linalg.solve(np.c_[powers, levels], wanted[at])[:-1]
        error = weight * (np.polynomial.polynomial.polyval(grid, coefficients) - wanted)
        at = _extrema(error, count)
    return coefficients


def _extrema(error: Array, count: int) -> NDArray[np.intp]:
    """The place of the largest error in each run of one sign; the ``count`` largest in a row."""
    bounds = np.flatnonzero(np.diff(np.sign(error)) != 0) + 1
    runs = np.split(np.arange(error.size), bounds)
    peaks = np.array([run[np.argmax(np.abs(error[run]))] for run in runs])
    starts = range(peaks.size - count + 1)
    best = max(starts, key=lambda s: float(np.abs(error[peaks[s : s + count]]).min()))
    return peaks[best : best + count]


def main() -> None:
    """Print every problem's error and coefficients, lowest order first."""
    for problem in PROBLEMS:
        rounded = remez(problem).astype(np.float32)
        x = np.linspace(problem.low, problem.high, GRID)
        x = x[x != 0]
        found = np.polynomial.polynomial.polyval(x, rounded.astype(np.float64))
        error = np.abs(problem.weight(x) * (found - problem.function(x))).max()
        print(f"{problem.name}: error 2^{np.log2(error):.1f}")
        print("   ", ", ".join(f"{c:.9g}F" for c in rounded))


if __name__ == "__main__":
    main()
