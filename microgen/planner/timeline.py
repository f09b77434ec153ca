"""The memory plan as plain text: which buffer lives when, and how many bytes at each step."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import accumulate

from microgen.program import MemoryPlan, Placement, Program

WIDTH = 100
COLUMNS = 60  # steps side by side; more are put into buckets
LEGEND = "'#' lives, '=' takes over its input's place"
STATE_LEGEND = "'#' lives, '=' in place, '@' across runs"


def timeline(program: Program, plan: MemoryPlan) -> str:
    """One row per buffer with a column per call, then one row per call with its live bytes.

    Plain text of at most 100 columns; many calls share a column or row ("bucket"), which shows
    the most that lives at any of them. The first call with the most live bytes is marked.
    """
    live = live_bytes(program, plan)
    if not plan.placements:
        return "no planned buffers: every result goes straight to an output\n"
    buckets = _buckets(len(live))
    state = {buffer.name for buffer in program.state}
    lines = [*_buffers(plan, live, buckets, state), "", *_steps(program, live, buckets)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def live_bytes(program: Program, plan: MemoryPlan) -> tuple[int, ...]:
    """Bytes of planned buffers that live during each call: the larger of its two half steps."""
    changes = [0] * (2 * len(program.calls) + 2)  # what is kept lives one call longer
    for p in plan.placements:
        changes[p.first] += p.nbytes
        changes[min(p.last + 1, len(changes) - 1)] -= p.nbytes
    live = list(accumulate(changes))
    return tuple(max(live[2 * k : 2 * k + 2]) for k in range(len(program.calls)))


def _buckets(steps: int) -> list[range]:
    size = -(-steps // COLUMNS)
    return [range(start, min(start + size, steps)) for start in range(0, steps, size)]


def _buffers(
    plan: MemoryPlan, live: Sequence[int], buckets: Sequence[range], state: Set[str]
) -> list[str]:
    peak = live.index(max(live))
    size = len(buckets[0])
    columns = "one column per step" if size == 1 else f"{size} steps per column"
    legend = STATE_LEGEND if state else LEGEND
    marks = {**dict.fromkeys(state, "@"), **{output: "=" for _, output in plan.in_place}}
    mark = "".join("^" if peak in bucket else " " for bucket in buckets)
    return [
        f"{'buffer':<14} {'offset':>9} {'bytes':>9}  {columns}; {legend}"[:WIDTH],
        *(_row(p, marks.get(p.name, "#"), buckets) for p in plan.placements),
        f"{'peak':<14} {'':>9} {max(live):>9}  {mark}",
    ]


def _row(p: Placement, mark: str, buckets: Sequence[range]) -> str:
    cells = "".join(_cell(p, mark, bucket) for bucket in buckets)
    return f"{p.name:<14} {p.offset:>9} {p.nbytes:>9}  {cells}"


def _cell(p: Placement, mark: str, bucket: range) -> str:
    if mark == "=" and p.first // 2 in bucket:
        return mark
    lives = p.first // 2 < bucket.stop and p.last // 2 >= bucket.start
    return (mark if mark == "@" else "#") if lives else "."


def _steps(program: Program, live: Sequence[int], buckets: Sequence[range]) -> list[str]:
    peak = live.index(max(live))
    return [
        f"{'step':<9} {'live bytes':>10}  {'of the peak':<24}  computes",
        *(_step(program, live, bucket, peak) for bucket in buckets),
    ]


def _step(program: Program, live: Sequence[int], bucket: range, peak: int) -> str:
    most = max(bucket, key=lambda k: live[k])
    name = str(bucket.start) if len(bucket) == 1 else f"{bucket.start}-{bucket.stop - 1}"
    bar = "#" * (24 * live[most] // max(1, live[peak]))
    mark = "<- peak " if peak in bucket else ""
    line = f"{name:<9} {live[most]:>10}  {bar:<24}  {mark}{program.calls[most].tensor}"
    return "".join(c if c.isprintable() else "?" for c in line)[:WIDTH]
