"""Places in the scratch of one function: buffers that live at different times share bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ALIGNMENT = 16  # of every place: no element needs more


@dataclass(frozen=True, slots=True)
class Span:
    """A buffer of ``nbytes`` that lives from step ``first`` to step ``last``, both included."""

    key: str | int
    nbytes: int
    first: int
    last: int


def placed(spans: Iterable[Span]) -> tuple[dict[str | int, int], int]:
    """Offsets by key, and how many bytes all take: the largest first, each at the lowest offset
    that is free while it lives."""
    found: list[tuple[int, Span]] = []
    for span in sorted(spans, key=lambda s: -s.nbytes):
        neighbours = [(o, s) for o, s in found if s.first <= span.last and span.first <= s.last]
        found.append((_lowest(span, neighbours), span))
    nbytes = max((offset + span.nbytes for offset, span in found), default=0)
    return {span.key: offset for offset, span in found}, nbytes


def _lowest(span: Span, neighbours: list[tuple[int, Span]]) -> int:
    offset = 0
    for start, other in sorted(neighbours, key=lambda item: item[0]):
        if offset + span.nbytes <= start:
            break
        offset = max(offset, -(-(start + other.nbytes) // ALIGNMENT) * ALIGNMENT)
    return offset
