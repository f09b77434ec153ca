"""Measures of large weights, some channels at a time, because int64 has eight times their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from microgen.graph.ir.graph import Array

_AT_ONCE = 2**16  # values


def slices(array: Array) -> Iterator[slice]:
    """Parts of the first axis, of at least one index and about ``_AT_ONCE`` values each. There is
    one even if the array is empty."""
    count = len(array)
    step = max(_AT_ONCE * count // max(array.size, 1), 1)
    return (slice(first, first + step) for first in range(0, max(count, 1), step))


def by_channels(weight: Array, axis: int, measure: Callable[[Array], Array]) -> Array:
    """A measure of each channel of a weight of integers. ``measure`` gets some channels, int64
    [channels, values of a channel], and returns an array whose last axis is these channels."""
    ordered = np.moveaxis(weight, axis, 0) if axis else weight
    channels = ordered.reshape(weight.shape[axis], -1)
    if channels.size <= _AT_ONCE:  # one part, as of most weights
        return measure(channels.astype(np.int64))
    found = [measure(channels[part].astype(np.int64)) for part in slices(channels)]
    return np.concatenate(found, axis=-1)
