"""Requantization by the high word of one product, with a proof that its results equal the specified
requantization.

As in ``linear``, an output is a monotone step function of its sum. A kernel whose sums are
multiplied by 256 can start them with any number, not only with multiples of 256. Therefore ``(x *
M) >> 42``, in which x starts with the bias and the output's zero point, has nearly as many choices
as a multiplier with an offset after it, and needs no sum of 64 bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import linear
from microgen.graph.ir.graph import Array

# Shifts of MG_HIGH and MG_HIGH_WIDE of crt/include/microgen/requantization/scaling_s8.h.
# Multipliers fit int32 for scales below 1/8 with the first shift, and below 1/2 with the second
# one.
SHIFT, WIDE_SHIFT = 42, 40
UNIT = 256  # of paired weights: kernels/requantization/paired.py
# Each bias allows other multipliers, so a channel without a multiplier for one may have one for the
# next.
_SPAN = 512  # biases to try on each side of the one that follows from the linear requantization
_NEAR = 4  # distances that are tried before the possible ones are found
_LIMIT = 2**31
_ROUNDED = 2.0**-44  # relative error of a quotient, with a margin


@dataclass(frozen=True, slots=True)
class High:
    """The multiplier and the initial value of the sums of every channel, int64 [channels], and
    whether each channel is exact with them.
    """

    multipliers: Array
    biases: Array
    is_exact: Array


def outputs(sums: Array, multipliers: Array, low: int, high: int, shift: int = SHIFT) -> Array:
    """The requantization of sums that are times 256 and contain their bias, int64."""
    return np.asarray(np.clip((sums * multipliers) >> shift, low, high))


@functools.lru_cache(maxsize=4096)
def fit(channels: linear.OutputChannels, shift: int = SHIFT) -> High:
    """Multipliers and biases with which as many channels as possible are exact."""
    known = linear.fit(channels)
    # Multipliers that leave int32 there may be exact here, where they have fewer bits.
    # Channels with which the linear requantization fails would use up all candidates.
    is_possible = known.is_exact | (known.multipliers >= _LIMIT)
    nothing = np.zeros_like(known.multipliers)
    fitted = High(nothing, nothing.copy(), np.zeros_like(is_possible))
    if channels.low >= channels.high or not is_possible.any():
        return fitted
    conditions = _Conditions.of(channels, shift)
    for rows, multipliers, biases in _candidates(conditions, known, fitted):
        is_new = conditions.part(rows).are_exact(multipliers, biases) & ~fitted.is_exact[rows]
        new = rows[is_new]
        fitted.multipliers[new] = multipliers[is_new]
        fitted.biases[new] = biases[is_new]
        fitted.is_exact[new] = True
        if (fitted.is_exact | ~is_possible).all():
            break
    return fitted


def fit_equal(channels: linear.OutputChannels, shift: int = SHIFT) -> High:
    """``fit`` for channels with one scale, which get one multiplier."""
    # It is exact for a channel that has the sums of all of them.
    fitted, count = fit(linear.as_one(channels), shift), len(channels.folded)
    biases = fitted.biases + UNIT * np.array(channels.folded, np.int64)
    return High(
        np.repeat(fitted.multipliers, count), biases, fitted.is_exact & (np.abs(biases) < _LIMIT)
    )


@dataclass(frozen=True, slots=True)
class _Conditions:
    """The conditions on a multiplier and a bias, for all channels.

    ``at`` [channels, thresholds] are the least sums with which the output is at least ``values``,
    times 256, and ``before`` the sums before them. Products of ``at`` must reach ``bounds``, and
    products of ``before`` must not.
    """

    shift: int
    is_constant: Array
    at: Array
    before: Array
    has_at: Array
    has_before: Array
    bounds: Array

    @staticmethod
    def of(channels: linear.OutputChannels, shift: int) -> _Conditions:
        """The conditions of channels."""
        steps = linear.Steps.of(channels)
        sums = (steps.sums - np.array(channels.folded, np.int64)[:, None]) * UNIT
        bounds = np.broadcast_to(steps.values << shift, sums.shape)
        has = steps.has_at, steps.has_before
        return _Conditions(shift, np.asarray(steps.is_constant), sums, sums - UNIT, *has, bounds)

    def part(self, rows: Array) -> _Conditions:
        """The conditions of some channels."""
        if len(rows) == len(self.at):
            return self
        of = (self.is_constant, self.at, self.before, self.has_at, self.has_before, self.bounds)
        return _Conditions(self.shift, *(np.asarray(each[rows]) for each in of))

    def are_exact(self, multipliers: Array, biases: Array) -> Array:
        """Whether the channels' outputs equal the specified outputs for every sum."""
        is_small = (np.abs(biases) < _LIMIT) & (multipliers >= 0) & (multipliers < _LIMIT)
        # Factors that are not small are replaced: their products might exceed int64.
        bias, factor = (np.where(is_small, n, 0)[:, None] for n in (biases, multipliers))
        is_above = (self.at + bias) * factor >= self.bounds
        is_below = (self.before + bias) * factor < self.bounds
        exact: Array = (is_above | ~self.has_at).all(axis=1) & is_small
        return exact & (is_below | ~self.has_before).all(axis=1)

    def multipliers(self, biases: Array) -> Array:
        """The middle of the multipliers that suit the channels' biases."""
        # Dividing by a negative factor turns the inequality around, so its quotient is a limit of
        # the other side.
        least, most = np.zeros(len(biases)), np.full(len(biases), float(_LIMIT))
        for sums, has, is_least in (
            (self.at, self.has_at, True),
            (self.before, self.has_before, False),
        ):
            factor = (sums + biases[:, None]).astype(np.float64)
            quotient = self.bounds / np.where(factor == 0, 1, factor)
            rises, falls = has & (factor > 0), has & (factor < 0)
            lower, upper = (rises, falls) if is_least else (falls, rises)
            least = np.maximum(least, np.where(lower, quotient, -np.inf).max(axis=1))
            most = np.minimum(most, np.where(upper, quotient, np.inf).min(axis=1))
        # float64 is precise enough here, because are_exact() decides in integers.
        return np.asarray(np.rint(np.clip((least + most) / 2, 0, _LIMIT)).astype(np.int64))

    def slack(self, biases: Array) -> Array:
        """For each channel, a number that is concave in the bias, and at least 0 for each bias that
        some multiplier suits.

        With a bias b and t = 1 / multiplier, all conditions are linear: ``at + b >= bounds * t``
        and ``before + b < bounds * t``. So t has a lower limit, which is the greatest of linear
        functions of b, and an upper one, the least of such functions."""
        biases, positive, negative = biases[:, None], self.bounds > 0, self.bounds < 0
        bounds = np.where(self.bounds == 0, 1, self.bounds).astype(np.float64)
        at, before = (self.at + biases) / bounds, (self.before + biases) / bounds
        most = np.minimum(
            np.where(self.has_at & positive, at, np.inf).min(axis=1),
            np.where(self.has_before & negative, before, np.inf).min(axis=1),
        )
        least = np.maximum(
            np.where(self.has_before & positive, before, 1 / _LIMIT).max(axis=1),
            np.where(self.has_at & negative, at, 1 / _LIMIT).max(axis=1),
        )
        # Quotients are rounded: none is off by more than this.
        return np.asarray(most - least + _ROUNDED * np.maximum(least, np.abs(most)))

    def reach(self, centre: Array) -> tuple[Array, Array]:
        """For each channel, the least and the greatest distance of a bias from the ``centre`` with
        which it can be exact, among those of less than ``_SPAN``. If there is none, the greatest is
        less."""
        first, last = (np.full(len(centre), end, np.int64) for end in (1 - _SPAN, _SPAN - 1))
        for zero in np.flatnonzero(self.bounds[0] == 0):
            least, most = -self.at[:, zero] - centre, -self.before[:, zero] - 1 - centre
            first = np.where(self.has_at[:, zero], np.maximum(first, least), first)
            last = np.where(self.has_before[:, zero], np.minimum(last, most), last)

        def slack(distance: Array) -> Array:
            return self.slack(centre + distance)

        peak = _first(first, last, lambda d: slack(d + 1) <= slack(d))
        is_open = (first <= last) & (slack(peak) >= 0)
        least = _first(first, peak, lambda d: slack(d) >= 0)
        most = _first(peak, last, lambda d: slack(d + 1) < 0)
        # Constants need no product, so a multiplier of 0 suits some of them.
        least, most = np.where(is_open, least, 1), np.where(is_open, most, 0)
        return (
            np.where(self.is_constant, 1 - _SPAN, least),
            np.where(self.is_constant, _SPAN - 1, most),
        )


def _first(first: Array, last: Array, holds: Callable[[Array], Array]) -> Array:
    """The first number of each range that ``holds``, the last if none before it does. All numbers
    after one that ``holds`` do."""
    while (first < last).any():
        middle = (first + last) >> 1
        does = holds(middle)
        is_open = first < last
        first = np.where(is_open & ~does, middle + 1, first)
        last = np.where(is_open & does, middle, last)
    return first


def _candidates(
    conditions: _Conditions, known: linear.Linear, fitted: High
) -> Iterator[tuple[Array, Array, Array]]:
    """Channels that are not exact yet, with multipliers and biases to try."""
    every = np.arange(len(fitted.is_exact))
    for multipliers, biases in _constants(conditions):
        yield every, multipliers, biases
    factor = np.maximum(known.multipliers, 1)
    nearest = np.rint(known.biases * (UNIT * 2.0**linear.BIAS_SHIFT) / factor)
    centre = np.clip(nearest, -_LIMIT, _LIMIT).astype(np.int64)
    least, most = np.full_like(centre, -_SPAN), np.full_like(centre, _SPAN)
    for distance in range(_SPAN):
        if distance == _NEAR:
            least, most = conditions.reach(centre)
        # The set has one element for distance 0, which is tried once.
        for change in {distance, -distance}:
            is_open = ~fitted.is_exact & (least <= change) & (change <= most)
            rows = np.flatnonzero(is_open)
            if len(rows):
                biases = centre[rows] + change
                yield rows, conditions.part(rows).multipliers(biases), biases


def _constants(conditions: _Conditions) -> Iterator[tuple[Array, Array]]:
    has_at, at, before = conditions.has_at, conditions.at, conditions.before
    output = (conditions.bounds >> conditions.shift)[:, 0] - 1 + has_at.sum(axis=1)
    middle = np.where(has_at[:, :1], at[:, :1], before[:, :1])[:, 0]
    # Any power of two gives the constant, if its bias fits int32. The largest one gives the
    # least bias.
    for bits in range(30, 16, -1):
        biases = ((2 * output + 1) << (conditions.shift - 1 - bits)) - middle
        yield np.where(conditions.is_constant, 1 << bits, -1), biases
