"""The linear requantization for vectors of int32, with a proof as in ``linear``.

Vectors have no products of 64 bits, only their rounded high halves. So sums are first shifted to
the left, to have bits for the fraction that C adds:
``high_half(2 * ((x << left) + C) * M, rounded) >> right``. Shift and addition saturate. The bias
and the output's zero point are inside C.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import int8
from microgen.graph.arithmetic.linear import OutputChannels, Steps, specified
from microgen.graph.ir.graph import Array

_BITS = 31
_LEFT = 15  # the most that sums are shifted
_FAR = np.int64(2**62)


@dataclass(frozen=True, slots=True)
class LinearVector:
    """M and C of every channel, int64 [channels], the shifts of all of them, and whether a channel
    is exact with them."""

    multipliers: Array
    biases: Array
    left: int
    right: int
    is_exact: Array


def outputs(sums: Array, vector: LinearVector, low: int, high: int) -> Array:
    """The requantization of sums [channels, ...], int64."""
    shape = (-1,) + (1,) * (sums.ndim - 1)
    added = _saturated(sums << vector.left) + vector.biases.reshape(shape)
    products = int8.rounding_doubling_high_mul(
        _saturated(added), vector.multipliers.reshape(shape).astype(np.int64)
    )
    return np.asarray(np.clip(products >> vector.right, low, high))


def _saturated(x: Array) -> Array:
    return np.asarray(np.clip(x, -(2**_BITS), 2**_BITS - 1))


@functools.lru_cache(maxsize=256)
def fit(channels: OutputChannels) -> LinearVector:
    """The multipliers and biases with which the most channels are exact."""
    scales = np.array(channels.scales, np.float64)
    usable = scales[scales > 0]
    if not usable.size or channels.low >= channels.high:
        return _none(len(scales))
    parts = [Steps(part) for part in channels.parts()]
    _, exponent = np.frexp(usable.max())
    # All channels share the shifts. The left one is as large as the values of the outputs' range
    # allow. The right one makes the largest multiplier at least 2**30.
    left = _left(parts, channels)
    right = left - int(exponent)
    if left < 0 or not 0 <= right <= _BITS:
        return _none(len(scales))
    # The largest scale determines the shift, because a vector has one shift for all of its
    # channels.
    multipliers = np.rint(np.ldexp(scales, _BITS - int(exponent))).astype(np.int64)
    multipliers = np.minimum(multipliers, 2**_BITS - 1)
    each = zip(parts, _split(multipliers, parts), strict=True)
    found = [_with_biases(part, own, left, right) for part, own in each]
    rows = zip(*((part.biases, part.is_exact) for part in found), strict=True)
    biases, is_exact = map(np.concatenate, rows)
    return LinearVector(multipliers, biases, left, right, is_exact)


def _split(multipliers: Array, parts: Sequence[Steps]) -> list[Array]:
    ends = np.cumsum([len(part.channels.folded) for part in parts])
    return np.split(multipliers, ends[:-1])


def _left(parts: Sequence[Steps], channels: OutputChannels) -> int:
    """The shift with which neither biases nor the sums at thresholds saturate."""
    scales = np.array(channels.scales, np.float64)
    zero = np.abs(channels.zero_point) / scales[scales > 0].min()
    found = list(map(_largest, parts))
    at, own = (max(each[k] for each in found) for k in (0, 1))
    largest = max(at, int(own + zero)) + 2
    return min(_LEFT, _BITS - largest.bit_length())


def _largest(steps: Steps) -> tuple[int, int]:
    """The largest magnitudes of the sums at thresholds and of the folded parts."""
    folded = np.array(steps.channels.folded, np.int64)[:, None]
    at = np.abs(np.where(steps.has_at | steps.has_before, steps.sums - folded, 0))
    return int(at.max()), int(np.abs(folded[~steps.is_constant]).max(initial=0))


def _none(channels: int) -> LinearVector:
    nothing = np.zeros(channels, np.int64)
    return LinearVector(nothing, nothing, 0, 0, np.zeros(channels, bool))


def _with_biases(steps: Steps, multipliers: Array, left: int, right: int) -> LinearVector:
    """The biases in the middle of the ranges that the thresholds allow."""
    divisors = np.maximum(multipliers, 1)[:, None]
    # The division rounds up: the least factor whose rounded high half reaches the value.
    reached = -(-((steps.values << (right + _BITS)) - (1 << (_BITS - 1))) // divisors)
    at = np.clip(steps.sums, -(2**_BITS), 2**_BITS) << left
    least = np.where(steps.has_at, reached - at, -_FAR).max(axis=1)
    most = np.where(steps.has_before, reached - 1 - at + (1 << left), _FAR).min(axis=1)
    is_open = least <= most
    centre = np.where(is_open, _middle(least, most), 0)
    # The kernel adds C after the shift to the left, so the part that its sum lacks is shifted, too.
    folded = np.array(steps.channels.folded, np.int64) << left
    biases = np.clip(centre + folded, -(2**_BITS), 2**_BITS - 1)
    vector = LinearVector(multipliers, biases, left, right, is_open)
    # Saturation and the clip of the biases may spoil an interval, so the outputs are compared, too.
    return LinearVector(multipliers, biases, left, right, is_open & _is_same(steps, vector))


def _middle(least: Array, most: Array) -> Array:
    from_ = np.where(least == -_FAR, np.where(most == _FAR, 0, most), least)
    to = np.where(most == _FAR, from_, most)
    return np.asarray(from_ + (to - from_) // 2)


def _is_same(steps: Steps, vector: LinearVector) -> Array:
    """Whether each channel's outputs equal the specified outputs at each threshold, just before it,
    and for the least and the largest sum. Both requantizations are monotone, so they are then equal
    for all sums.
    """
    channels = steps.channels
    sums = np.concatenate([steps.sums - 1, steps.sums, steps.least, steps.most], axis=1)
    sums = np.clip(sums, steps.least, steps.most)
    folded = np.array(channels.folded, np.int64)[:, None]
    expected = specified(sums, channels)
    computed = outputs(sums - folded, vector, channels.low, channels.high)
    return np.asarray((expected == computed).all(axis=1))
