"""Where buffers lie in the scratch of one function, by when they live."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

_ALIGNMENT = 16  # no element needs more

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Span(Generic[Key]):
    """A buffer: it lives from step ``first`` to step ``last``, both included."""

    key: Key
    nbytes: int
    first: int
    last: int


def place(spans: Iterable[Span[Key]]) -> tuple[dict[Key, int], int]:
    """Offsets by key, each the lowest that is free while the buffer lives, larger ones first; and
    the bytes of the whole."""
    placed: list[tuple[int, Span[Key]]] = []
    for span in sorted(spans, key=lambda s: -s.nbytes):
        neighbours = [(o, s) for o, s in placed if s.first <= span.last and span.first <= s.last]
        placed.append((_lowest(span, neighbours), span))
    nbytes = max((offset + span.nbytes for offset, span in placed), default=0)
    return {span.key: offset for offset, span in placed}, nbytes


def _lowest(span: Span[Key], neighbours: list[tuple[int, Span[Key]]]) -> int:
    offset = 0
    for start, other in sorted(neighbours, key=lambda item: item[0]):
        if offset + span.nbytes <= start:
            break
        offset = max(offset, -(-(start + other.nbytes) // _ALIGNMENT) * _ALIGNMENT)
    return offset
