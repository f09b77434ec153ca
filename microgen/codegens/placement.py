"""Places in the scratch of one function: buffers that are live at different times share bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from microgen.planner.layout import lowest_fit, make_problem
from microgen.planner.lifetimes import Lifetime, Liveness

ALIGNMENT = 16  # of every place: no element needs more


@dataclass(frozen=True, slots=True)
class Span:
    """A buffer of ``nbytes`` that is live from step ``first`` to step ``last``, both included."""

    key: str | int
    nbytes: int
    first: int
    last: int


def placed(
    spans: Iterable[Span], *, largest_first: bool = True
) -> tuple[dict[str | int, int], int]:
    """Offsets by key, and the total bytes. Each buffer in turn, the largest first or in the given
    order, takes the lowest offset that is free while it is live."""
    given = list(spans)
    order = list(range(len(given)))
    if largest_first:
        order.sort(key=lambda i: -given[i].nbytes)
    buffers = tuple(Lifetime(str(i), s.nbytes, s.first, s.last) for i, s in enumerate(given))
    problem = make_problem(Liveness(buffers, pairs=()), (), ALIGNMENT)
    offsets = lowest_fit(problem, order)
    return {given[i].key: offsets[i] for i in order}, problem.peak(offsets)


def overwriting(
    spans: Iterable[Span],
    offsets: Mapping[str | int, int],
    place: tuple[int, int],
    after: int,
) -> int | None:
    """The first step after step ``after`` in which a span begins that shares bytes with ``place``,
    an offset and a number of bytes; None if these bytes are left alone."""
    offset, nbytes = place
    steps = [
        span.first
        for span in spans
        if span.first > after
        and offsets[span.key] < offset + nbytes
        and offset < offsets[span.key] + span.nbytes
    ]
    return min(steps, default=None)
