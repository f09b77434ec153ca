"""Computes the position of each place of a resized axis in the old axis, and the elements and
weights from which its value is made.

Source: the specification of Resize. Positions are computed in float32, as onnxruntime does, so that
positions between two elements are rounded to the same element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array

_F = np.float32


@dataclass(frozen=True, slots=True)
class ResizedAxis:
    """An axis that gets another number of elements."""

    size: int  # elements before
    places: int  # elements after
    scale: float  # the ratio that the model gives
    start: float = 0.0  # the part of the axis, to ``end``, that tf_crop_and_resize reads
    end: float = 1.0

    @property
    def is_changed(self) -> bool:
        """Whether the resize changes the axis."""
        return self.scale != 1 or self.size != self.places or (self.start, self.end) != (0, 1)

    @property
    def length(self) -> float:
        """The new length. It may have a fraction if the model specifies a scale."""
        return float(_F(self.scale) * _F(self.size))


def _half_pixel(axis: ResizedAxis, x: Array) -> Array:
    return (x + _F(0.5)) / _F(axis.scale) - _F(0.5)


def _pytorch_half_pixel(axis: ResizedAxis, x: Array) -> Array:
    return _half_pixel(axis, x) if axis.places > 1 else np.zeros_like(x)


def _symmetric(axis: ResizedAxis, x: Array) -> Array:
    offset = axis.size / 2 * (1 - axis.places / axis.length)
    return _F(offset) + _half_pixel(axis, x)


def _align_corners(axis: ResizedAxis, x: Array) -> Array:
    # One place has no distance to the next, by which the other places are divided.
    if axis.length == 1:
        return np.zeros_like(x)
    return x * _F(axis.size - 1) / _F(axis.length - 1)


def _cropped(axis: ResizedAxis, x: Array) -> Array:
    last, start, end = _F(axis.size - 1), _F(axis.start), _F(axis.end)
    if axis.places == 1:
        return np.full_like(x, _F(0.5) * (start + end) * last)
    return start * last + x * (end - start) * last / _F(axis.places - 1)


COORDINATES: Mapping[str, Callable[[ResizedAxis, Array], Array]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "align_corners": _align_corners,
    "asymmetric": lambda axis, x: x / _F(axis.scale),
    "tf_half_pixel_for_nn": lambda axis, x: (x + _F(0.5)) / _F(axis.scale),
    "tf_crop_and_resize": _cropped,
}

ROUNDINGS: Mapping[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.ceil(x - _F(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + _F(0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}


def positions(mode: str, axis: ResizedAxis) -> Array:
    """The position of each place in the old axis, float32 [places]."""
    with np.errstate(all="ignore"):
        at: Array = COORDINATES[mode](axis, np.arange(axis.places, dtype=_F))
    return at


def nearest(rounding: str, at: Array, size: int) -> Array:
    """The element nearest to each position, int64."""
    elements: Array = ROUNDINGS[rounding](at).clip(0, size - 1).astype(np.int64)
    return elements


@dataclass(frozen=True, slots=True)
class Filter:
    """Weights by distance."""

    cubic: float | None  # the coefficient of a cubic curve; None for a line
    antialias: bool  # the filter is stretched if the axis gets shorter
    excludes: bool  # values outside have no weight; otherwise they equal the edge's

    def reach(self, scale: float) -> int:
        """The number of elements to each side that may have a weight."""
        return int(np.ceil((1 if self.cubic is None else 2) / self._stretch(scale)))

    def _stretch(self, scale: float) -> float:
        return min(scale, 1.0) if self.antialias else 1.0

    def _weight(self, distance: Array) -> Array:
        x = np.abs(distance)
        if self.cubic is None:
            return np.asarray(np.maximum(0, 1 - x))
        a = self.cubic
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        weights: Array = np.where(x <= 1, near, np.where(x < 2, far, 0.0))
        return weights

    def terms(self, at: Array, axis: ResizedAxis) -> tuple[Array, Array]:
        """For each position, the first element that has a weight, int32 [places], and the weights
        of it and the next elements, float32 [places, n].
        """
        # float64 holds the differences of positions and elements exactly.
        reach, exact = self.reach(axis.scale), at.astype(np.float64)
        elements = np.floor(exact)[:, None] + np.arange(-reach, reach + 2)
        weights = self._weight((elements - exact[:, None]) * self._stretch(axis.scale))
        if self.excludes:
            weights = np.where((elements >= 0) & (elements < axis.size), weights, 0.0)
        # Without these two the weights of a place add up to 1 already.
        if self.antialias or self.excludes:
            sums = weights.sum(1, keepdims=True)
            weights = weights / np.where(sums == 0, 1, sums)
        return _compact(elements.clip(0, axis.size - 1).astype(np.int64), weights, axis.size)


def _compact(elements: Array, weights: Array, size: int) -> tuple[Array, Array]:
    """Weights of neighbouring elements, in as few columns as all places need."""
    used = weights != 0
    low = np.where(used, elements, size - 1).min(1)
    high = np.where(used, elements, 0).max(1)
    count = int(np.maximum(high - low, 0).max()) + 1
    first = np.minimum(low, size - count)
    table = np.zeros((len(first), count))
    rows = np.broadcast_to(np.arange(len(first))[:, None], elements.shape)
    # Elements past an edge equal the edge's, so their weights are added to its own.
    columns = (elements - first[:, None]).clip(0, count - 1)
    np.add.at(table, (rows, columns), weights)
    return first.astype(np.int32), table.astype(np.float32)
