"""Requantization by the high word of one product, with a proof that its results equal the specified
requantization.

As in ``linear``, an output is a monotone step function of its sum. A kernel whose sums are
multiplied by 256 can start them with any number, not only with multiples of 256. Therefore ``(x *
M) >> 42``, in which x starts with the bias and the output's zero point, has nearly as many choices
as a multiplier with an offset after it, and needs no sum of 64 bits.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
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
_LIMIT = 2**31


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
    tried = _Trial(channels, shift)
    for multipliers, biases in tried.candidates(known):
        is_new = tried.are_exact(multipliers, biases) & ~fitted.is_exact
        fitted.multipliers[is_new] = multipliers[is_new]
        fitted.biases[is_new] = biases[is_new]
        fitted.is_exact[is_new] = True
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


class _Trial:
    """The conditions on a multiplier and a bias, for all channels.

    ``at`` [channels, thresholds] are the least sums with which the output is at least ``values``,
    times 256, and ``before`` the sums before them. Products of ``at`` must reach ``bounds``, and
    products of ``before`` must not.
    """

    def __init__(self, channels: linear.OutputChannels, shift: int) -> None:
        steps = linear.Steps(channels)
        sums = (steps.sums - np.array(channels.folded, np.int64)[:, None]) * UNIT
        self.is_constant, self.has_at = steps.is_constant, steps.has_at
        self.has_before = steps.has_before
        self.shift = shift
        self.at, self.before = sums, sums - UNIT
        self.bounds = np.broadcast_to(steps.values << shift, sums.shape)

    def are_exact(self, multipliers: Array, biases: Array) -> Array:
        """Whether the channels' outputs equal the specified outputs for every sum."""
        is_small = (np.abs(biases) < _LIMIT) & (multipliers >= 0) & (multipliers < _LIMIT)
        # Factors that are not small are replaced: their products might exceed int64.
        bias, factor = (np.where(is_small, n, 0)[:, None] for n in (biases, multipliers))
        is_above = (self.at + bias) * factor >= self.bounds
        is_below = (self.before + bias) * factor < self.bounds
        exact: Array = (is_above | ~self.has_at).all(axis=1) & is_small
        return exact & (is_below | ~self.has_before).all(axis=1)

    def candidates(self, known: linear.Linear) -> Iterator[tuple[Array, Array]]:
        yield from self._constants()
        factor = np.maximum(known.multipliers, 1)
        nearest = np.rint(known.biases * (UNIT * 2.0**linear.BIAS_SHIFT) / factor)
        centre = np.clip(nearest, -_LIMIT, _LIMIT).astype(np.int64)
        for distance in range(_SPAN):
            # The set has one element for distance 0, which is tried once.
            for change in {distance, -distance}:
                yield self._multipliers(centre + change), centre + change

    def _constants(self) -> Iterator[tuple[Array, Array]]:
        output = (self.bounds >> self.shift)[:, 0] - 1 + self.has_at.sum(axis=1)
        middle = np.where(self.has_at[:, :1], self.at[:, :1], self.before[:, :1])[:, 0]
        # Any power of two gives the constant, if its bias fits int32. The largest one gives the
        # least bias.
        for bits in range(30, 16, -1):
            biases = ((2 * output + 1) << (self.shift - 1 - bits)) - middle
            yield np.where(self.is_constant, 1 << bits, -1), biases

    def _multipliers(self, biases: Array) -> Array:
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
