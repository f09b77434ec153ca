"""Prints the polynomials of float_math.h and of the headers that are built on it: coefficients as
float32 literals; float_power.h gets integers times 2^-32.

Each is the polynomial P of the given degree with the least max |weight * (P - f)| over an interval.
Remez's exchange in float64 finds it. Its coefficients are then rounded, and the printed error is
measured with the rounded coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
GRID = 200_001  # points at which the error is measured
ROUNDS = 20  # of Remez's exchange, which converges quadratically


@dataclass(frozen=True)
class Problem:
    """``weight`` makes the error of P the relative error of the function that uses P."""

    name: str
    function: Callable[[Array], Array]
    weight: Callable[[Array], Array]
    low: float
    high: float
    degree: int
    is_fixed: bool = False  # integers times 2^-32

    def rounded(self, coefficients: Array) -> Array:
        """The coefficients as the header has them."""
        if self.is_fixed:
            return np.round(coefficients * 2**32) / 2**32
        return coefficients.astype(np.float32).astype(np.float64)

    def text(self, coefficients: Array) -> str:
        """Rounded coefficients in C."""
        if self.is_fixed:
            return ", ".join(f"{int(c * 2**32)}U" for c in coefficients)
        return ", ".join(f"{c:.9g}F" for c in coefficients)


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


def _erf(z: Array) -> Array:
    """erf(x) / x - 1 with z = x^2, by its series."""
    terms = [(-1) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(30)]
    return np.polynomial.polynomial.polyval(z, 2 / math.sqrt(math.pi) * np.array(terms)) - 1


def _erfc(x: Array) -> Array:
    return np.array([math.erfc(value) for value in x])


def _asin(z: Array) -> Array:
    """(asin(x) / x - 1) / x^2 with z = x^2, by its series."""
    odd, even = np.arange(1.0, 120.0, 2), np.arange(2.0, 121.0, 2)
    return np.polynomial.polynomial.polyval(z, np.cumprod(odd / even) / (even + 1))


def _atan(z: Array) -> Array:
    """(atan(x) / x - 1) / x^2 with z = x^2, by its series."""
    return np.polynomial.polynomial.polyval(z, [(-1) ** (k + 1) / (2 * k + 3) for k in range(60)])


def _sinh(z: Array) -> Array:
    """(sinh(x) / x - 1) / x^2 with z = x^2, by its series."""
    factorials = np.cumprod(np.arange(1.0, 26.0))
    return np.polynomial.polynomial.polyval(z, 1 / factorials[2::2])


def _log2(z: Array) -> Array:
    """1 / 3 + z / 5 + z^2 / 7 + ..., the series of the area tangent after its first term."""
    return np.polynomial.polynomial.polyval(z, [1 / (2 * k + 3) for k in range(30)])


def _exp2(f: Array) -> Array:
    """(2^f - 1) / f, by its series."""
    terms = [math.log(2) ** (k + 1) / math.factorial(k + 1) for k in range(25)]
    return np.polynomial.polynomial.polyval(f, terms)


PROBLEMS = (
    Problem("exp", _exp, lambda r: np.abs(r * r / np.expm1(r)), -0.3475, 0.3475, 5),
    Problem("log", _log, lambda z: z / (2 + z * _log(z)), 0.0, 0.02945, 2),
    Problem("sin", _sin, lambda z: z / (1 + z * _sin(z)), 0.0, 0.617, 3),
    Problem("cos", _cos, lambda z: z * z / np.cos(np.sqrt(z)), 0.0, 0.617, 2),
    Problem("tanh", _tanh, lambda z: z / (1 + z * _tanh(z)), 1e-4, 0.3026, 4),
    Problem("erf", _erf, lambda z: 1 / (1 + _erf(z)), 0.0, 0.9216, 6),
    Problem(
        "-log erfc", lambda x: -np.log(_erfc(x)), lambda x: _erfc(x) / (1 - _erfc(x)), 0.96, 3.95, 6
    ),
    Problem("asin", _asin, lambda z: z / (1 + z * _asin(z)), 0.0, 0.25, 4),
    Problem("atan", _atan, lambda z: z / (1 + z * _atan(z)), 0.0, 0.1716, 4),
    Problem("sinh", _sinh, lambda z: z / (1 + z * _sinh(z)), 0.0, 1.0, 3),
    Problem("log2", _log2, lambda z: z, 0.0, 0.02945, 3, is_fixed=True),
    Problem("exp2", _exp2, lambda f: f, 0.0, 1.0, 6, is_fixed=True),
)


def remez(problem: Problem) -> Array:
    """The coefficients, lowest order first."""
    grid = np.linspace(problem.low, problem.high, GRID)
    grid = grid[grid != 0]  # where a weight may be 0 / 0
    wanted, weight = problem.function(grid), problem.weight(grid)
    count = problem.degree + 2
    # Chebyshev nodes are a good start: there the error of an interpolation is nearly level.
    angles = np.pi * (np.arange(count) + 0.5) / count
    at = np.searchsorted(grid, np.mean(grid[[0, -1]]) - np.cos(angles) * np.ptp(grid) / 2)
    for _ in range(ROUNDS):
        powers = np.vander(grid[at], problem.degree + 1, increasing=True)
        # At the best polynomial the weighted error alternates in sign with one magnitude, which is
        # the last unknown (Chebyshev's equioscillation theorem).
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
    # The signs must alternate, so extrema are taken in a row, not simply the largest ones.
    best = max(starts, key=lambda s: float(np.abs(error[peaks[s : s + count]]).min()))
    return peaks[best : best + count]


def main() -> None:
    """Print every problem's error and coefficients, lowest order first."""
    for problem in PROBLEMS:
        rounded = problem.rounded(remez(problem))
        x = np.linspace(problem.low, problem.high, GRID)
        x = x[x != 0]
        found = np.polynomial.polynomial.polyval(x, rounded)
        error = np.abs(problem.weight(x) * (found - problem.function(x))).max()
        print(f"{problem.name}: error 2^{np.log2(error):.1f}")
        print("   ", problem.text(rounded))


if __name__ == "__main__":
    main()
