"""The elements of a tensor in another order and shape, as reshapes and transposes leave them.

Each axis of the source is divided into factors, so that every chain of reshapes and transposes is
one order of factors: (1, 64, 16) -> (1, 16, 64) -> (4, 4, 64) -> (4, 64, 4) divides the axis of 16
into 4 and 4. Two chains that arrange the elements in the same way are equal.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Move

Axes = tuple[int, ...]
Shape = tuple[int, ...]
Runs = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A tensor of shape ``shape`` with the elements of a source.

    ``parts`` are the sizes of each source axis's factors, outermost first; their product is the
    axis's size. Factors are numbered in the source's order, and ``order`` has their numbers in the
    order of the arranged tensor, outermost first.
    """

    parts: tuple[Shape, ...]
    order: Axes
    shape: Shape

    @classmethod
    def same(cls, shape: Sequence[int]) -> Arrangement:
        """The source itself, if it has that shape."""
        return cls(tuple((n,) for n in shape), tuple(range(len(shape))), tuple(shape))

    @classmethod
    def transpose(cls, source: Sequence[int], axes: Axes) -> Arrangement:
        """The transpose of a source of that shape whose axis k is the source's axis ``axes[k]``."""
        return cls(tuple((n,) for n in source), axes, tuple(source[axis] for axis in axes))

    @property
    def sizes(self) -> Shape:
        """The sizes of all factors, in the source's order."""
        return tuple(size for part in self.parts for size in part)

    @property
    def source(self) -> Shape:
        """The shape of the source."""
        return tuple(math.prod(part) for part in self.parts)

    @property
    def axes(self) -> Axes | None:
        """The axes of the source in the order of the arranged tensor's, if it is a transpose."""
        if any(len(part) != 1 for part in self.parts):
            return None
        sizes = self.sizes
        return self.order if tuple(sizes[k] for k in self.order) == self.shape else None

    @property
    def is_view(self) -> bool:
        """Whether the elements have the same order as in the source."""
        sizes = self.sizes
        moving = [k for k in self.order if sizes[k] != 1]
        return moving == sorted(moving)

    def reshaped(self, shape: Sequence[int]) -> Arrangement:
        """The same elements under another shape."""
        return dataclasses.replace(self, shape=tuple(shape))

    def divided(self) -> tuple[Arrangement, Runs] | None:
        """The arrangement with factors so small that each axis of its shape is a run of factors,
        and these runs. None if there are no such factors."""
        pieces: list[list[int]] = [[] for _ in self.order]
        runs = _runs(self.order, self.sizes, self.shape, pieces)
        if runs is None:
            return None
        first = [0]
        for sizes in pieces:
            first.append(first[-1] + len(sizes))
        numbered = tuple(tuple(first[k] + at for k, at in run) for run in runs)
        parts, factors = [], iter(pieces)
        for part in self.parts:
            parts.append(tuple(size for _ in part for size in next(factors)))
        order = tuple(k for run in numbered for k in run)
        return Arrangement(tuple(parts), order, self.shape), numbered

    def transposed(self, axes: Axes) -> Arrangement | None:
        """The transpose of this tensor; None if its axes are no runs of factors."""
        found = self.divided()
        if found is None:
            return None
        whole, runs = found
        order = tuple(k for axis in axes for k in runs[axis])
        shape = tuple(self.shape[axis] for axis in axes)
        return dataclasses.replace(whole, order=order, shape=shape).merged()

    def then(self, other: Arrangement) -> Arrangement | None:
        """The arrangement of the source that results if its result is arranged again; None if
        factors would have to be divided unevenly."""
        found = self.reshaped(other.sizes).transposed(other.order)
        return found and found.reshaped(other.shape)

    def coalesced(self) -> Arrangement:
        """The same order of the elements of a source of one axis, with the fewest factors."""
        return Arrangement((self.sizes,), self.order, self.shape).merged()

    def merged(self) -> Arrangement:
        """The equal arrangement with the fewest factors."""
        sizes = self.sizes
        wide = [k for k in self.order if sizes[k] != 1]
        # The factor after k in the arranged tensor. Factors of size 1 do not keep two apart.
        follows = dict(itertools.pairwise(wide))
        names: dict[int, int] = {}  # factor -> its number after the merge
        parts: list[Shape] = []
        numbers, count = itertools.count(), 0
        for part in self.parts:
            merged: list[int] = []
            before = -1
            for size, k in zip(part, numbers, strict=False):
                if size == 1 and math.prod(part) != 1:
                    continue
                if merged and (size == 1 or follows.get(before) == k):
                    merged[-1] *= size
                else:
                    merged.append(size)
                names[k], before = count + len(merged) - 1, k
            parts.append(tuple(merged))
            count += len(merged)
        order = tuple(dict.fromkeys(names[k] for k in self.order if k in names))
        return Arrangement(tuple(parts), order, self.shape)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two arrangements that make the same tensor of the same source."""
        whole = self.merged()
        sizes = whole.sizes
        wide = [k for k in range(len(sizes)) if sizes[k] != 1]
        order = tuple(wide.index(k) for k in whole.order if sizes[k] != 1)
        return tuple(tuple(n for n in part if n != 1) for part in whole.parts), order, self.shape

    def inverse(self) -> Arrangement | None:
        """The arrangement that makes the source of this tensor."""
        found = self.divided()
        if found is None:
            return None
        whole, runs = found
        sizes = whole.sizes
        numbers = {k: i for i, k in enumerate(whole.order)}
        order = tuple(numbers[k] for k in range(len(sizes)))
        parts = tuple(tuple(sizes[k] for k in run) for run in runs)
        return Arrangement(parts, order, self.source).merged()

    def places(self) -> tuple[int | None, ...] | None:
        """For each axis of the shape, the source's axis with the same indices, or None if there is
        none. None if axes are no runs of factors."""
        found = self.divided()
        if found is None:
            return None
        whole, runs = found
        sizes, axis_of = whole.sizes, whole.axis_of_factors()
        places: list[int | None] = []
        for run in runs:
            wide = [k for k in run if sizes[k] != 1] or list(run[:1])
            axis = axis_of[wide[0]] if len(wide) == 1 else None
            places.append(axis if axis is not None and len(whole.parts[axis]) == 1 else None)
        return tuple(places)

    def axis_of_factors(self) -> Axes:
        """The source axis of each factor."""
        return tuple(axis for axis, part in enumerate(self.parts) for _ in part)

    def resized(self, sizes: Mapping[int, int], shape: Sequence[int]) -> Arrangement:
        """The same arrangement of a source whose axes in ``sizes`` have other sizes. Each of them
        is one factor."""
        parts = tuple((sizes[k],) if k in sizes else part for k, part in enumerate(self.parts))
        return Arrangement(parts, self.order, tuple(shape))

    def like(self, shape: Sequence[int]) -> Arrangement | None:
        """The same arrangement for an operand of that shape, whose axes are as long as this
        tensor's or have size 1. None if the operand would not broadcast to the source."""
        found, places = self.divided(), self.places()
        if found is None or places is None:
            return None
        whole, runs = found
        sizes = list(whole.sizes)
        for own, size, run, place in zip(shape, self.shape, runs, places, strict=True):
            if own == 1:
                for k in run:
                    sizes[k] = 1
            elif own != size:
                if place is None:
                    return None
                sizes[next(k for k in run if whole.axis_of_factors()[k] == place)] = own
        parts, left = [], iter(sizes)
        for part in whole.parts:
            now = tuple(next(left) for _ in part)
            if math.prod(now) != 1 and any(b == 1 != a for a, b in zip(part, now, strict=True)):
                return None
            parts.append(now)
        return Arrangement(tuple(parts), whole.order, tuple(shape)).merged()

    def kept(self, axes: Collection[int]) -> Arrangement:
        """The same arrangement of a source in which these axes have size 1."""
        pairs = enumerate(self.parts)
        parts = tuple((1,) * len(part) if axis in axes else part for axis, part in pairs)
        return dataclasses.replace(self, parts=parts)

    def without(self, axes: Collection[int], shape: Sequence[int]) -> Arrangement:
        """The arrangement of a source that lacks these axes, under another shape."""
        axis_of = self.axis_of_factors()
        left = [k for k in range(len(axis_of)) if axis_of[k] not in axes]
        numbers = {k: i for i, k in enumerate(left)}
        parts = tuple(part for axis, part in enumerate(self.parts) if axis not in axes)
        order = tuple(numbers[k] for k in self.order if k in numbers)
        return Arrangement(parts, order, tuple(shape))

    def indices(self) -> Array:
        """For each element of the arranged tensor, in order, its index in the source, flat."""
        numbers = np.arange(math.prod(self.source)).reshape(self.sizes)
        return numbers.transpose(self.order).reshape(-1)

    def moves(self) -> tuple[Move, ...]:
        """The moves of a layout that turn the source into this tensor."""
        if self.axes is not None:
            return ((self.source, self.axes),)
        own: Move = (self.shape, tuple(range(len(self.shape))))
        return (own,) if self.is_view else ((self.sizes, self.order), own)


def _runs(
    order: Axes, sizes: Shape, shape: Shape, pieces: list[list[int]]
) -> list[list[tuple[int, int]]] | None:
    """The factors of each axis of the shape, as pairs of a factor of ``order`` and the number of
    its piece, whose sizes are added to ``pieces``. None if a factor would have to be divided
    unevenly."""
    if not shape or 0 in shape:
        return None
    runs: list[list[tuple[int, int]]] = []
    at, left = -1, 1  # the current factor, and the part of it that no axis has yet
    for size in shape:
        run: list[tuple[int, int]] = []
        need = size
        if need == 1 and left == 1 and at + 1 < len(order) and sizes[order[at + 1]] == 1:
            at += 1
            pieces[order[at]].append(1)
            run.append((order[at], 0))
        while need > 1:
            if left == 1:
                at += 1
                left = sizes[order[at]]
                if left == 1:
                    pieces[order[at]].append(1)
                    run.append((order[at], 0))
                    continue
            if left % need and need % left:
                return None
            piece = min(left, need)
            pieces[order[at]].append(piece)
            run.append((order[at], len(pieces[order[at]]) - 1))
            left, need = left // piece, need // piece
        runs.append(run)
    for k in order[at + 1 :]:  # of size 1
        pieces[k].append(1)
        runs[-1].append((k, 0))
    return runs
