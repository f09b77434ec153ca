"""Fits non-negative coefficients of work to measured costs, by their relative errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_DIGITS = 4  # significant digits of a coefficient
_NEGLIGIBLE = 1e-9


def fitted(works: Sequence[Mapping[str, int]], costs: Sequence[int]) -> dict[str, float]:
    """Coefficients, none of them negative, whose sums are closest to ``costs``, in relation to
    these. Numbers of work that contribute nothing, or are proportional to an earlier one, are left
    out."""
    names = _different(works)
    terms = np.array([[work[name] for name in names] for work in works], np.float64)
    # Errors are relative: otherwise the largest layers alone would decide.
    terms /= np.array(costs, np.float64)[:, None]
    # Columns of one length, so that the choice by gradient does not depend on the units of work.
    norms = np.linalg.norm(terms, axis=0)
    found = non_negative(terms / norms, np.ones(len(costs))) / norms
    return {
        name: float(f"{value:.{_DIGITS}g}")
        for name, value in zip(names, found, strict=True)
        if value > 0
    }


def _different(works: Sequence[Mapping[str, int]]) -> list[str]:
    """The numbers of work that are not all 0; of several proportional ones, only one."""
    columns: dict[tuple[Fraction, ...], str] = {}
    for name in works[0]:
        column = [work[name] for work in works]
        if any(column):
            # Exact fractions, because proportional columns would make the least squares singular.
            columns.setdefault(tuple(Fraction(n, sum(column)) for n in column), name)
    return list(columns.values())


def non_negative(terms: npt.NDArray[np.float64], target: Vector) -> Vector:
    """The x >= 0 with the least squares of ``terms @ x - target``.

    Source: Lawson and Hanson, Solving Least Squares Problems, chapter 23, algorithm NNLS."""
    found = np.zeros(terms.shape[1])
    free = np.zeros(terms.shape[1], bool)
    # Lawson and Hanson's limit. It ends the cycles that rounding could cause.
    for _ in range(3 * terms.shape[1]):
        gradient = terms.T @ (target - terms @ found)
        gradient[free] = -np.inf
        if free.all() or gradient.max() <= _NEGLIGIBLE:
            break
        free[gradient.argmax()] = True
        found = _inner(terms, target, found, free)
    return found


def _inner(terms: npt.NDArray[np.float64], target: Vector, found: Vector, free: Flags) -> Vector:
    """Solves for the free coefficients; coefficients that would become negative are fixed at 0."""
    while True:
        solved = np.zeros_like(found)
        solved[free] = np.linalg.lstsq(terms[:, free], target, rcond=None)[0]
        negative = free & (solved <= 0)
        if not negative.any():
            return solved
        # Go towards the solution only until the first coefficient becomes 0.
        steps = found[negative] / np.maximum(found[negative] - solved[negative], _NEGLIGIBLE)
        found = found + steps.min() * (solved - found)
        free &= found > _NEGLIGIBLE
        found = np.where(free, found, 0)


def errors(
    coefficients: Mapping[str, float], works: Sequence[Mapping[str, int]], costs: Sequence[int]
) -> Vector:
    """The relative error of each estimate."""
    sums = [sum(c * work[name] for name, c in coefficients.items()) for work in works]
    return np.array(sums) / np.array(costs, np.float64) - 1
