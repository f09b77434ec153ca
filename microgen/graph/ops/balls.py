"""Running error analysis: computes a formula's value, and a bound of the error of its float32
computation.

A ball is a value and an error: every float32 computation of the formula, in any order and with or
without fused multiply-adds, lies within the error of the value. Source: Higham, Accuracy and
Stability of Numerical Algorithms, 2nd edition, sections 3.1 to 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array

UNIT = 2.0**-24  # u: rounding to nearest changes a result by at most this fraction of itself
LEAST = 2.0**-126  # the most by which it changes a denormal result, or one flushed to zero

_PAIR = np.dtype([("value", np.float64), ("error", np.float64)])


def gamma(roundings: int) -> float:
    """The greatest relative change of a value by a number of successive roundings."""
    return roundings * UNIT / (1 - roundings * UNIT) if roundings * UNIT < 1 else np.inf


def spacing(values: Array) -> Array:
    """A unit in the last place of each value as a float32."""
    # np.spacing of an infinity is NaN.
    magnitude = np.minimum(np.abs(values), np.finfo(np.float32).max)
    return np.maximum(np.spacing(magnitude.astype(np.float32)), LEAST).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Products:
    """Sums of ``terms`` products of two factors each, written as for numpy's einsum."""

    left: Ball
    right: Ball
    subscripts: str
    terms: int

    def of(self, part: Callable[[Ball], Array]) -> Array:
        """The sums for one part of the factors, for example their values."""
        return np.asarray(np.einsum(self.subscripts, part(self.left), part(self.right)))


@dataclass(frozen=True, slots=True)
class Ball:
    """float64 arrays of one shape. The values are the results of the formula without rounding."""

    value: Array
    error: Array

    @staticmethod
    def of(values: Array, error: Array | float = 0.0) -> Ball:
        """Numbers with errors of at most ``error``; a pair that ``packed`` returned has its own
        errors."""
        if values.dtype == _PAIR:
            return Ball(values["value"], values["error"])
        wide = np.asarray(values, np.float64)
        return Ball(wide, np.broadcast_to(np.asarray(error, np.float64), wide.shape))

    def packed(self) -> Array:
        """Value and error as one array, which can be moved like any other array."""
        pairs = np.empty(self.value.shape, _PAIR)
        pairs["value"], pairs["error"] = self.value, self.error
        return pairs

    def __iter__(self) -> Iterator[Ball]:
        return (Ball(*pair) for pair in zip(self.value, self.error, strict=True))

    def __getitem__(self, index: Any) -> Ball:
        return Ball(self.value[index], self.error[index])

    def moved(self, move: Callable[[Array], Array]) -> Ball:
        """The ball with its numbers at other places. ``move`` only moves elements."""
        return Ball(move(self.value), move(self.error))

    @staticmethod
    def joined(balls: Sequence[Ball], join: Callable[[Sequence[Array]], Array]) -> Ball:
        """Several balls as one. ``join`` only moves elements, like np.stack."""
        return Ball(join([ball.value for ball in balls]), join([ball.error for ball in balls]))

    @property
    def largest(self) -> Array:
        """The greatest magnitude in the ball."""
        return np.asarray(np.abs(self.value) + self.error)

    def _rounded(self) -> Ball:
        """The ball after a rounding, which adds no error to infinite values."""
        size = np.where(np.isinf(self.value), 0, self.largest)
        return Ball(self.value, self.error + UNIT * size + LEAST)

    @property
    def _has_sign(self) -> Array:
        """Whether all numbers of the ball have the same sign and differ from 0."""
        return np.asarray(np.abs(self.value) > self.error)

    def __add__(self, other: Ball) -> Ball:
        return Ball(self.value + other.value, self.error + other.error)._rounded()

    def __sub__(self, other: Ball) -> Ball:
        return Ball(self.value - other.value, self.error + other.error)._rounded()

    def __mul__(self, other: Ball) -> Ball:
        value = self.value * other.value
        error = self.largest * other.largest - np.abs(self.value) * np.abs(other.value)
        # An infinite product is certain only if no number of either ball is 0 or has another sign.
        infinite = np.where(self._has_sign & other._has_sign, 0, np.inf)
        return Ball(value, np.where(np.isinf(value), infinite, np.maximum(error, 0)))._rounded()

    def __truediv__(self, other: Ball) -> Ball:
        value = self.value / other.value
        # If the ball of the divisor contains 0, the error is infinite: any quotient is possible.
        nearest = np.abs(other.value) - other.error  # the divisor closest to zero
        error = (self.error + np.abs(value) * other.error) / np.maximum(nearest, 0)
        unknown = (self.error > 0) | (other.error > 0)
        return Ball(value, np.where(unknown, error, 0))._rounded()

    def sum(self, axis: int) -> Ball:
        """Sums along an axis, which is kept with size 1."""
        value = self.value.sum(axis=axis, keepdims=True)
        size = self.largest.sum(axis=axis, keepdims=True)
        # n numbers need n - 1 additions, in any order.
        roundings = gamma(max(0, self.value.shape[axis] - 1))
        return Ball(value, self.error.sum(axis=axis, keepdims=True) + roundings * size)

    def apply(self, function: Callable[[Array], Array], ulps: int) -> Ball:
        """The result of a monotonic function that is computed within ``ulps``."""
        value = function(self.value)
        # The function is monotonic, so its farthest results are at the ends of the ball.
        ends = (function(self.value + self.error), function(self.value - self.error))
        error = np.maximum(*(np.abs(end - value) for end in ends))
        return Ball(value, error + ulps * spacing(np.abs(value) + error))

    def clipped(self, low: float, high: float) -> Ball:
        """The ball clamped to a range. Clamping never increases a distance."""
        return Ball(np.clip(self.value, low, high), self.error)

    def stored(self) -> Ball:
        """The ball after its value is rounded to float32."""
        with np.errstate(over="ignore"):
            value = self.value.astype(np.float32).astype(np.float64)
        apart = np.where(np.isfinite(value), np.abs(value - self.value), 0)
        return Ball(value, self.error + apart)


class Exact(Ball):
    """Numbers without errors, whose formulas compute values only: those that balls have, in a
    quarter of the time. References need nothing else."""

    __slots__ = ()

    def __init__(self, value: Array) -> None:
        object.__setattr__(self, "value", value)

    @property
    def error(self) -> Array:
        """0 for each number."""
        return np.broadcast_to(0.0, self.value.shape)

    def __getitem__(self, index: Any) -> Ball:
        return Exact(self.value[index])

    def moved(self, move: Callable[[Array], Array]) -> Ball:
        """The numbers at other places."""
        return Exact(move(self.value))

    def __add__(self, other: Ball) -> Ball:
        return Exact(self.value + other.value)

    def __sub__(self, other: Ball) -> Ball:
        return Exact(self.value - other.value)

    def __mul__(self, other: Ball) -> Ball:
        return Exact(self.value * other.value)

    # Python calls these instead of the methods of a ball on the left.
    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Ball) -> Ball:
        return Exact(other.value - self.value)

    def apply(self, function: Callable[[Array], Array], ulps: int) -> Ball:
        """The function's results, which are not rounded."""
        del ulps
        return Exact(function(self.value))

    def clipped(self, low: float, high: float) -> Ball:
        """The numbers clamped to a range."""
        return Exact(np.clip(self.value, low, high))

    def stored(self) -> Ball:
        """The numbers rounded to float32."""
        with np.errstate(over="ignore"):
            return Exact(self.value.astype(np.float32).astype(np.float64))


def total(products: Sequence[Products], added: Sequence[Ball] = ()) -> Ball:
    """All products and everything in ``added``, summed in any order."""
    factors = (factor for each in products for factor in (each.left, each.right))
    is_exact = all(isinstance(ball, Exact) for ball in (*factors, *added))

    def summed(part: Callable[[Ball], Array]) -> Array:
        sums: Array = sum((each.of(part) for each in products), start=np.zeros(()))
        return sum((part(ball) for ball in added), start=sums)

    if is_exact:
        return Exact(summed(lambda ball: ball.value))
    size = summed(lambda ball: ball.largest)
    plain = summed(lambda ball: np.abs(ball.value))
    terms = sum(each.terms for each in products) + len(added)
    # Roundings are relative to partial sums. The sum of all magnitudes bounds these, even if terms
    # cancel.
    error = np.maximum(size - plain, 0) + gamma(terms) * size + terms * LEAST
    return Ball(summed(lambda ball: ball.value), error)
