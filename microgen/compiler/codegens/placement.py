"""Places in the scratch of one function: buffers that are live at different times share bytes."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from microgen.base.formats.c_layout import aligned

ALIGNMENT = 16  # of every place: no element needs more


@dataclass(frozen=True, slots=True)
class BufferSpan:
    """A buffer of ``nbytes`` that is live from step ``first`` to step ``last``, both included."""

    key: str | int
    nbytes: int
    first: int
    last: int


def placed(
    spans: Iterable[BufferSpan], *, largest_first: bool = True
) -> tuple[dict[str | int, int], int]:
    """Offsets by key, and the total bytes. Each buffer in turn, the largest first or in the given
    order, takes the lowest offset that is free while it is live."""
    order = list(spans)
    if largest_first:
        # Small buffers can fill the gaps between large ones, but not the other way round.
        order.sort(key=lambda span: -span.nbytes)
    offsets: dict[str | int, int] = {}
    done: list[tuple[int, int, BufferSpan]] = []  # beginning and end of each, in their order
    for span in order:
        at = _lowest(span, done)
        offsets[span.key] = at
        insort(done, (at, at + span.nbytes, span), key=itemgetter(0))
    return offsets, max((end for _, end, _ in done), default=0)


def _lowest(span: BufferSpan, done: Iterable[tuple[int, int, BufferSpan]]) -> int:
    """The lowest place for a span that overlaps no span that is live with it."""
    at = 0
    for begin, end, other in done:
        if other.first <= span.last and span.first <= other.last and other.nbytes:
            # The others are in the order of their beginnings, so no later one begins below this
            # one.
            if at + span.nbytes <= begin:
                break
            at = max(at, aligned(end, ALIGNMENT))
    return at


def overwriting(
    spans: Iterable[BufferSpan],
    offsets: Mapping[str | int, int],
    place: tuple[int, int],
    after: int,
) -> int | None:
    """The first step after step ``after`` in which another span begins to use bytes of ``place``
    (an offset and a number of bytes); None if no span does."""
    offset, nbytes = place
    steps = [
        span.first
        for span in spans
        if span.first > after
        and offsets[span.key] < offset + nbytes
        and offset < offsets[span.key] + span.nbytes
    ]
    return min(steps, default=None)
