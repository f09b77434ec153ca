"""The number of bytes of planned buffers that are live at each call."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from microgen.program.plan import MemoryPlan
from microgen.program.types import Program

Span = tuple[int, int, int]  # first and last half step, both included, and bytes


def live_bytes(program: Program, plan: MemoryPlan) -> tuple[int, ...]:
    """Bytes of planned buffers that are live during each call."""
    return live(((p.first, p.last, p.nbytes) for p in plan.placements), len(program.calls))


def live(spans: Iterable[Span], calls: int) -> tuple[int, ...]:
    """Bytes that are live during each call: the larger of its two half steps."""
    change = [0] * (2 * calls + 1)
    for first, last, nbytes in spans:
        change[min(max(first, 0), 2 * calls)] += nbytes
        change[min(max(last + 1, 0), 2 * calls)] -= nbytes
    at = list(accumulate(change))
    return tuple(max(at[2 * k], at[2 * k + 1]) for k in range(calls))
