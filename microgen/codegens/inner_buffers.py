"""Places of buffers that live inside one function, in its scratch."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

ALIGNMENT = 16  # of inner buffers: no element needs more


@dataclass(frozen=True, slots=True)
class Span:
    """A buffer of ``nbytes`` that lives from step ``first`` to step ``last``."""

    key: Hashable
    nbytes: int
    first: int
    last: int


def placed(spans: Sequence[Span]) -> tuple[Mapping[Hashable, int], int]:
    """Offsets by key, and the bytes that all need: each buffer at the lowest offset that is free
    while it lives."""
    done: list[tuple[int, Span]] = []
    for span in sorted(spans, key=lambda s: -s.nbytes):
        neighbours = [(o, s) for o, s in done if s.first <= span.last and span.first <= s.last]
        done.append((_lowest(span, neighbours), span))
    offsets = {span.key: offset for offset, span in done}
    return offsets, max((offset + span.nbytes for offset, span in done), default=0)


def _lowest(span: Span, neighbours: list[tuple[int, Span]]) -> int:
    offset = 0
    for start, other in sorted(neighbours, key=lambda item: item[0]):
        if offset + span.nbytes <= start:
            break
        offset = max(offset, -(-(start + other.nbytes) // ALIGNMENT) * ALIGNMENT)
    return offset
