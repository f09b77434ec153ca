"""The number of bytes of planned buffers that are live at each call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import Program

Span = tuple[int, int, int]  # first and last half step, both included, and bytes
Placed = tuple[str, int, int, int, int]  # name, offset, bytes, first and last half step


def live_bytes(program: Program, plan: MemoryPlan) -> tuple[int, ...]:
    """Bytes of planned buffers that are live during each call."""
    placed = {p.name: (p.name, p.offset, p.nbytes, p.first, p.last) for p in plan.placements}
    pairs = [(p.input, p.output) for p in plan.in_place if p.input in placed]
    return live(spans(placed.values(), pairs), len(program.calls))


def spans(placed: Iterable[Placed], pairs: Iterable[tuple[str, str]]) -> Iterator[Span]:
    """The span of each buffer. ``pairs`` are (input, output) of overlapping buffers. In their call,
    the bytes of both count, although each half step has only one of the buffers."""
    by_name = {b[0]: b for b in placed}
    for _, _, nbytes, first, last in by_name.values():
        yield first, last, nbytes
    for source, target in pairs:
        _, start, nbytes, _, dies = by_name[source]
        _, other_start, other_bytes, born, _ = by_name[target]
        union = max(start + nbytes, other_start + other_bytes) - min(start, other_start)
        yield dies, dies, union - nbytes
        yield born, born, union - other_bytes


def live(spans: Iterable[Span], calls: int) -> tuple[int, ...]:
    """Bytes that are live during each call: the larger of its two half steps."""
    change = [0] * (2 * calls + 1)
    for first, last, nbytes in spans:
        change[min(max(first, 0), 2 * calls)] += nbytes
        change[min(max(last + 1, 0), 2 * calls)] -= nbytes
    at = list(accumulate(change))
    return tuple(max(at[2 * k], at[2 * k + 1]) for k in range(calls))
