"""Placement in the order of time, for programs in which too much is live at once for the others.

The other planners look at every pair of buffers that are live at the same time. The number of pairs
grows with the square of the live buffers. So above ``MOST`` each buffer, when it is born, takes the
smallest free range that holds it, and returns it when it dies. No buffer is moved, and the time is
proportional to the program, apart from the logarithm of the number of free ranges. Only in-place
pairs whose outputs lie within their inputs are used.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from microgen.base.formats.c_layout import aligned
from microgen.planner.layout import Layout, end
from microgen.planner.lifetimes import (
    InPlacePair,
    Lifetime,
    Liveness,
    all_merged,
    crowding,
    lower_bound,
    shortened,
)

MOST = 100_000  # the most pairs live at once, plus buffers of calls, for the other planners


def is_crowded(liveness: Liveness) -> bool:
    """Whether there is too much work for the other planners."""
    return crowding(liveness) > MOST


@dataclass(slots=True, eq=False)
class Heap:
    """The free ranges of a pool that grows at its end; all are multiples of its alignment."""

    alignment: int
    end: int = 0
    _sizes: list[tuple[int, int]] = field(default_factory=list)  # (bytes, offset), ascending
    _starts: dict[int, int] = field(default_factory=dict)  # offset -> bytes
    _ends: dict[int, int] = field(default_factory=dict)  # end -> offset

    def where(self, nbytes: int) -> int:
        """The offset for ``nbytes`` bytes: in the smallest free range, or at the end."""
        # The smallest range that is large enough. If several are equal, the lowest is taken.
        place = bisect_left(self._sizes, (aligned(nbytes, self.alignment), 0))
        if place < len(self._sizes):
            return self._sizes[place][1]
        # The range at the end may be free but too small; then it grows.
        return self._ends.get(self.end, self.end)

    def take(self, nbytes: int) -> int:
        """Take ``nbytes`` bytes at the offset of ``where``."""
        offset = self.where(nbytes)
        end = offset + aligned(nbytes, self.alignment)
        free_end = offset + self._remove(offset) if offset in self._starts else end
        self.end = max(self.end, end)
        self._add(end, max(0, free_end - end))
        return offset

    def shrink(self, offset: int, nbytes: int, left: int) -> None:
        """Return all but the first ``left`` bytes; free ranges that touch are merged."""
        start = offset + aligned(left, self.alignment)
        size = offset + aligned(nbytes, self.alignment) - start
        if start in self._ends:
            before = self._ends[start]
            start, size = before, size + self._remove(before)
        if start + size in self._starts:
            size += self._remove(start + size)
        self._add(start, size)

    def _add(self, offset: int, nbytes: int) -> None:
        if nbytes:
            insort(self._sizes, (nbytes, offset))
            self._starts[offset] = nbytes
            self._ends[offset + nbytes] = offset

    def _remove(self, offset: int) -> int:
        nbytes = self._starts.pop(offset)
        del self._ends[offset + nbytes]
        del self._sizes[bisect_left(self._sizes, (nbytes, offset))]
        return nbytes


Places = dict[str, tuple[Heap, int]]


def walk(
    liveness: Liveness, used: Iterable[InPlacePair], choose: Callable[[Lifetime], Heap]
) -> Places:
    """The heap and the offset of each buffer if the ``used`` pairs share addresses. ``choose``
    says which heap takes a buffer when it is born."""
    replaced = {pair.output: pair.input for pair in used}
    dying = {pair.input for pair in used}
    sizes = {b.name: b.nbytes for b in liveness.buffers}
    places: Places = {}
    for b, is_born in _in_time_order(shortened(liveness.buffers, used)):
        if not is_born and b.name not in dying:
            heap, offset = places[b.name]
            heap.shrink(offset, b.nbytes, 0)
        elif is_born and b.name in replaced:
            heap, offset = places[b.name] = places[replaced[b.name]]
            # The output is at its input's address and not larger, so the bytes after it are free.
            heap.shrink(offset, sizes[replaced[b.name]], b.nbytes)
        elif is_born:
            heap = choose(b)
            places[b.name] = (heap, heap.take(b.nbytes))
    return places


def within(liveness: Liveness) -> Liveness:
    """The liveness without the pairs whose outputs do not lie within their inputs."""
    return replace(liveness, pairs=tuple(pair for pair in liveness.pairs if not pair.lag))


def _in_time_order(buffers: Sequence[Lifetime]) -> Iterator[tuple[Lifetime, bool]]:
    """Each buffer when it is born (True) and when it has died, deaths before births."""
    events = [(b.first, True, i) for i, b in enumerate(buffers)]
    events += [(b.last + 1, False, i) for i, b in enumerate(buffers)]
    # At one time deaths come first, because False sorts before True.
    for _, is_born, i in sorted(events):
        yield buffers[i], is_born


def place(liveness: Liveness, alignment: int) -> Layout:
    """The better of two layouts in one pool: with all in-place pairs, and with none."""
    merged = all_merged(within(liveness))
    # A pair keeps its address for two lifetimes, which can cost more than it saves.
    tries = (_one_pool(liveness, used, alignment) for used in (merged, ()))
    sizes = {b.name: b.nbytes for b in liveness.buffers}
    return min(tries, key=lambda made: end(made.offsets, sizes))


def layouts(
    liveness: Liveness,
    used: tuple[InPlacePair, ...],
    heaps: Sequence[Heap],
    choose: Callable[[Lifetime], Heap],
) -> tuple[Layout, ...]:
    """The buffers of each heap after a ``walk``."""
    places = walk(liveness, used, choose)
    return tuple(_layout(liveness, used, places, heap) for heap in heaps)


def _one_pool(liveness: Liveness, used: tuple[InPlacePair, ...], alignment: int) -> Layout:
    heap = Heap(alignment)
    (made,) = layouts(liveness, used, [heap], lambda _: heap)
    return made


def _layout(
    liveness: Liveness, used: tuple[InPlacePair, ...], places: Places, heap: Heap
) -> Layout:
    offsets = {name: offset for name, (own, offset) in places.items() if own is heap}
    inside = liveness.only(offsets)
    gap = end(offsets, {b.name: b.nbytes for b in inside.buffers}) - lower_bound(inside)
    return Layout(
        offsets,
        tuple(pair for pair in used if pair.input in offsets),
        f"too much is live at once for a search: at most {gap} bytes above the bound"
        if gap
        else "optimal for this schedule",
    )
