"""Requantization in one step, with a proof that its results equal the specified results.

An int8 output is a monotone step function of its int32 sum: it has at most 255 thresholds. So
``(x * M + C) >> 34``, which is monotone too, equals it for every sum if it does at each threshold
and just before it. The sum's bias and the output's zero point are inside C.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import int8
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array

SHIFT = 34  # of mg_linear in crt/include/microgen/requantization/scaling_s8.h
BIAS_SHIFT = 16  # of mg_linear: C is a multiple of 2**16, and so fits an int32
LIMIT = 2**30  # of sums: larger ones, times M, may leave int64
_FAR = np.int64(2**62)
_AT_ONCE = 256  # channels
_REMEMBERED = 4  # parts of layers, because thresholds take kilobytes a channel
_NEAR = 2  # sums by which thresholds usually differ from the scales' estimate


@dataclass(frozen=True, slots=True)
class OutputChannels:
    """Output channels whose sums are requantized; each tuple has one entry per channel."""

    scales: tuple[float, ...]  # of the sums over the output's
    least: tuple[int, ...]  # the sums that are reachable, with their bias, up to ``most``
    most: tuple[int, ...]
    folded: tuple[int, ...]  # the part of a sum that the kernel's sum lacks, and C adds
    rounding: Rounding
    zero_point: int
    low: int  # the clamp, with ``high``
    high: int

    def parts(self) -> Iterator[OutputChannels]:
        """The channels in parts, which are fitted one after the other, because the thresholds of a
        channel take kilobytes."""
        for first in range(0, len(self.folded), _AT_ONCE):
            names = ("scales", "least", "most", "folded")
            own = {name: getattr(self, name)[first : first + _AT_ONCE] for name in names}
            yield dataclasses.replace(self, **own)


@dataclass(frozen=True, slots=True)
class Linear:
    """M and C / 2**16 of every channel, int64 [channels], and whether the channel is exact with
    them."""

    multipliers: Array
    biases: Array
    is_exact: Array

    @classmethod
    def joined(cls, parts: Iterable[Linear]) -> Linear:
        """The channels of all parts."""
        rows = zip(*((part.multipliers, part.biases, part.is_exact) for part in parts), strict=True)
        return cls(*map(np.concatenate, rows))


def outputs(sums: Array, multipliers: Array, biases: Array, low: int, high: int) -> Array:
    """The linear requantization of sums, int64."""
    wide = sums * multipliers + (biases << BIAS_SHIFT)
    return np.asarray(np.clip(wide >> SHIFT, low, high))


def specified(sums: Array, channels: OutputChannels) -> Array:
    """The specified requantization of sums [channels, ...], with their bias, int64."""
    shape = (-1,) + (1,) * (sums.ndim - 1)
    scales = int8.per_channel_multipliers(np.array(channels.scales, np.float64))
    multipliers, shifts = (part.astype(np.int64).reshape(shape) for part in scales)
    scaled = int8.multiply_by_quantized_multiplier(sums, multipliers, shifts, channels.rounding)
    stored: Array = scaled.astype(np.int64) + channels.zero_point
    return np.clip(stored, channels.low, channels.high)


@functools.lru_cache(maxsize=4096)
def fit(channels: OutputChannels) -> Linear:
    """The multipliers and biases with which the most channels are exact."""
    if channels.low >= channels.high or _leaves_int64(channels):
        return _none(len(channels.scales))
    return Linear.joined(map(_fitted, channels.parts()))


def _fitted(channels: OutputChannels) -> Linear:
    steps = Steps.of(channels)
    return steps.at(_widest(steps.channels), np.array(channels.folded, np.int64))


# The requirements of several kernels for one layer differ only in what is folded.
@functools.lru_cache(maxsize=_REMEMBERED)
def _widest(channels: OutputChannels) -> Array:
    """The multiplier of each channel for which the interval of C is widest, int64 [channels]."""
    steps = Steps.of(channels)
    # C of a channel may be anything in an interval, whose width is a concave function of M. So a
    # bisection finds the M for which it is widest.
    guess = np.rint(np.minimum(channels.scales, 1) * 2.0**SHIFT).astype(np.int64)
    distance = np.maximum(64, guess >> 8)
    below, above = np.maximum(guess - distance, 0), guess + distance
    while (below < above).any():
        middle = (below + above) >> 1
        is_rising = (steps.slope(middle) > 0) & (below < above)
        below, above = np.where(is_rising, middle + 1, below), np.where(is_rising, above, middle)
    # A channel with one output needs no product: with M = 0, C alone gives the output.
    return np.where(steps.is_constant, 0, below)


def as_one(channels: OutputChannels) -> OutputChannels:
    """A channel that reaches all sums of channels with one scale. Nothing is folded."""
    return dataclasses.replace(
        channels,
        scales=channels.scales[:1],
        least=(min(channels.least),),
        most=(max(channels.most),),
        folded=(0,),
    )


@functools.lru_cache(maxsize=4096)
def fit_equal(channels: OutputChannels) -> Linear:
    """``fit`` for channels with one scale. They get one multiplier: the multiplier of a channel
    with the sums of all of them."""
    count = len(channels.folded)
    if channels.low >= channels.high or _leaves_int64(channels):
        return _none(count)
    multiplier = fit(as_one(channels)).multipliers
    each = dataclasses.replace(channels, scales=channels.scales[:1] * count)
    return Linear.joined(
        Steps.of(part).at(np.repeat(multiplier, len(part.folded)), np.array(part.folded, np.int64))
        for part in each.parts()
    )


def _leaves_int64(channels: OutputChannels) -> bool:
    sums = zip(channels.least, channels.most, strict=True)
    # Channels without weights have one sum, which is not multiplied. Converters give such channels
    # biases of about 2**30, which do not change the output.
    return any(least < most and max(-least, most) >= LIMIT for least, most in sums)


def _none(channels: int) -> Linear:
    nothing = np.zeros(channels, np.int64)
    return Linear(nothing, nothing, np.zeros(channels, bool))


class Steps:
    """The thresholds of all channels: the least sums with which an output is at least low + 1, ...,
    high. They are at most one past the reachable sums."""

    @classmethod
    def of(cls, channels: OutputChannels) -> Steps:
        """The thresholds of channels. They do not depend on what is folded, and are kept for
        the next calls."""
        return _steps(dataclasses.replace(channels, folded=(0,) * len(channels.folded)))

    def __init__(self, channels: OutputChannels) -> None:
        self.channels = channels
        self.values = np.arange(channels.low + 1, channels.high + 1, dtype=np.int64)[None, :]
        self.least, self.most = (
            np.array(sums, np.int64)[:, None] for sums in (channels.least, channels.most)
        )
        self.sums = self._bisected()
        self.has_before, self.has_at = self.sums > self.least, self.sums <= self.most
        self.is_constant = ~(self.has_before & self.has_at).any(axis=1)

    def _bisected(self) -> Array:
        """Bisects all thresholds at once, beginning with a few sums around the estimates."""
        shape = np.broadcast_shapes(self.least.shape, self.values.shape)
        reached = np.broadcast_to(self.most + 1, shape)
        missed = np.broadcast_to(self.least - 1, shape)
        guess = self._guessed()
        # Most thresholds are within _NEAR of the guess, which saves most of the 30 steps of a
        # bisection.
        for tried in (guess + _NEAR, guess - _NEAR):
            inside = np.clip(tried, missed + 1, reached - 1)
            reached, missed = self._narrowed(reached, missed, inside)
        while (reached - missed > 1).any():
            reached, missed = self._narrowed(reached, missed, (reached + missed) >> 1)
        return reached

    def _guessed(self) -> Array:
        """The thresholds of exact scales with one rounding, int64 [channels, thresholds]."""
        scales = np.array(self.channels.scales, np.float64)[:, None]
        halves = self.values - self.channels.zero_point - 0.5
        with np.errstate(divide="ignore", over="ignore"):
            return np.clip(np.rint(halves / scales), -LIMIT, LIMIT).astype(np.int64)

    def _narrowed(self, reached: Array, missed: Array, tried: Array) -> tuple[Array, Array]:
        """The limits of the thresholds after each was tried with one sum. A sum outside the limits
        changes nothing.
        """
        is_reached = specified(tried, self.channels) >= self.values
        is_open = (missed < tried) & (tried < reached)
        return (
            np.where(is_open & is_reached, tried, reached),
            np.where(is_open & ~is_reached, tried, missed),
        )

    def _limits(self, multipliers: Array) -> tuple[Array, Array]:
        """The least and the largest C that each threshold of every channel allows."""
        product, multipliers = self.values << SHIFT, multipliers[:, None]
        least = np.where(self.has_at, product - self.sums * multipliers, -_FAR)
        most = np.where(self.has_before, product - 1 - (self.sums - 1) * multipliers, _FAR)
        return least, most

    def slope(self, multipliers: Array) -> Array:
        """The growth of each channel's interval per step of its multiplier; int64 [channels]."""
        least, most = self._limits(multipliers)
        lower, upper = least.argmax(axis=1), most.argmin(axis=1)
        return np.asarray(_picked(self.sums, lower) - (_picked(self.sums, upper) - 1))

    def _interval(self, multipliers: Array) -> tuple[Array, Array]:
        """The least and the largest C of every channel."""
        least, most = self._limits(multipliers)
        from_, to = least.max(axis=1), most.min(axis=1)
        # If no threshold is reachable on a side, C has no limit there, and the interval gets the
        # width of one output, 2**34.
        from_ = np.where(from_ == -_FAR, to - (1 << SHIFT), from_)
        return from_, np.where(to == _FAR, from_ + (1 << SHIFT), to)

    def at(self, multipliers: Array, own: Array) -> Linear:
        """The biases for multipliers int64 [channels], in the middle of the intervals that the
        thresholds allow. ``own`` are the parts of sums that C adds, int64 [channels]."""
        least, most = self._interval(multipliers)
        folded = own * multipliers
        is_open = least <= most
        centre = np.where(is_open, least + (most - least) // 2, 0) + folded
        # Rounded to a multiple of 2**16, C may leave its interval; is_exact says whether it did.
        biases = (centre + (1 << BIAS_SHIFT >> 1)) >> BIAS_SHIFT
        back = (biases << BIAS_SHIFT) - folded
        is_exact = is_open & (least <= back) & (back <= most)
        # Kernels have M and C / 2**16 as int32.
        is_exact &= (multipliers < 2**31) & (np.abs(biases) < 2**31)
        return Linear(multipliers, biases, is_exact)


@functools.lru_cache(maxsize=_REMEMBERED)
def _steps(channels: OutputChannels) -> Steps:
    return Steps(channels)


def _picked(table: Array, columns: Array) -> Array:
    return np.asarray(table[np.arange(len(columns)), columns])
