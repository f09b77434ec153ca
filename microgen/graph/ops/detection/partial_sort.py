"""The order in which std::partial_sort of GNU's C++ library leaves equal values."""

from __future__ import annotations

from collections.abc import Sequence


def best_first(values: Sequence[float], count: int) -> list[int]:
    """The places of the greatest ``count`` values, the greatest first.

    Equal values have the order of std::partial_sort in GNU's C++ library, with which LiteRT is
    built: a heap holds the first values with the least on top, and each greater value replaces the
    top.
    """
    heap = list(range(count))
    # std::make_heap, from the last place that has another below it.
    for top in reversed(range(count // 2)):
        _sink(heap, values, top, count, heap[top])
    for place in range(count, len(values)):
        # Only a greater value replaces the least one, so of equal values the first ones remain.
        if count and values[place] > values[heap[0]]:
            _sink(heap, values, 0, count, place)
    # std::sort_heap: the least value goes to the end, again and again.
    for last in reversed(range(1, count)):
        place, heap[last] = heap[last], heap[0]
        _sink(heap, values, 0, last, place)
    return heap


def _sink(heap: list[int], values: Sequence[float], top: int, count: int, place: int) -> None:
    """Put a place into the heap of ``count`` places at ``top``, which is vacant: the lesser child
    moves up until the vacancy is at the bottom. The new place rises from there.
    """
    hole = top
    while 2 * hole + 1 < count:
        child = 2 * hole + 2
        if child == count or values[heap[child]] > values[heap[child - 1]]:
            child -= 1
        heap[hole], hole = heap[child], child
    while hole > top and values[heap[(hole - 1) // 2]] > values[place]:
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = place
