"""The Pareto front of schedules as data, as a table, and drawn with characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from microgen.output.text_layout import Column, Listing, Part, Table
from microgen.schedule import Found, Front

WIDE, HIGH = 60, 14  # characters of the drawing
_MARKS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def to_json(front: Front, clock_hz: int) -> dict[str, Any]:
    """Plain data, in the form of docs/schemas/plan.json."""
    return {
        "considered": front.considered,
        "ram_bound": front.bound,
        "schedules": [
            {
                "ram": one.ram.peak,
                "ram_bound": one.ram.bound,
                "cycles": one.score.cycles,
                "milliseconds": _milliseconds(one, clock_hz),
                "instructions": one.score.instructions,
                "flash": one.score.flash,
                "unmeasured": one.score.unmeasured,
                "goals": list(one.goals),
                "kernels": dict(_kernels(one)),
            }
            for one in front.found
        ],
    }


def parts(front: Front, clock_hz: int) -> Iterator[Part]:
    """The table, the drawing if there are several schedules, and what was considered."""
    yield _table(front, clock_hz)
    if len(front.found) > 1:
        yield ""
        yield Listing("\n".join(_drawing(front.found)))
    yield ""
    yield f"{len(front.found)} of {front.considered:,} schedules considered"
    if front.bound is not None:
        gap = min(one.ram.peak for one in front.found) - front.bound
        yield (
            f"certificate: no schedule needs less than {front.bound:,} bytes of RAM; "
            f"the smallest of these needs {f'{gap:,} more' if gap else 'no more'}"
        )
    if unmeasured := front.found[0].score.unmeasured:
        yield f"cycles, instructions and code do not include {unmeasured} layers without a cost"


def _milliseconds(one: Found, clock_hz: int) -> float | None:
    return 1000 * one.score.cycles / clock_hz if clock_hz else None


def _kernels(one: Found) -> list[tuple[str, int]]:
    """The implementations with the number of calls that each computes, the most used first."""
    regions = one.schedule.partition.regions
    names = [
        f"{choice.symbol}{' (shared)' if choice.is_shared else ''}"
        for region in regions
        for choice in region.choices
    ]
    return Counter(names).most_common()


def _table(front: Front, clock_hz: int) -> Table:
    numbers = ("RAM B", "cycles", "ms", "instructions", "flash B")
    table = Table(
        [
            Column("#"),
            *(Column(name, right=True) for name in numbers),
            Column("--optimize"),
            Column("implementations", shorten=True, optional=True),
        ]
    )
    for number, (mark, one) in enumerate(zip(_marks(front.found), front.found, strict=True), 1):
        time = _milliseconds(one, clock_hz)
        table.add(
            f"{number}" if mark == f"{number}" else f"{number} {mark}",
            f"{one.ram.peak:,}",
            f"{one.score.cycles:,}",
            "n/a" if time is None else f"{time:,.3f}",
            f"{one.score.instructions:,}",
            f"{one.score.flash:,}",
            ", ".join(one.goals),
            ", ".join(f"{count} {name.removeprefix('mg_')}" for name, count in _kernels(one)),
        )
    return table


def _marks(found: Sequence[Found]) -> Iterator[str]:
    """A character for each; those beyond the last have the last one."""
    return (_MARKS[min(i, len(_MARKS) - 1)] for i in range(len(found)))


def _drawing(found: Sequence[Found]) -> Iterator[str]:
    """Cycles to the right, and upwards RAM, or flash if all need the same RAM. Of marks in one
    place that of the least is drawn."""
    ram, flash = [one.ram.peak for one in found], [one.score.flash for one in found]
    name, heights = ("RAM", ram) if len(set(ram)) > 1 else ("flash", flash)
    cycles = [one.score.cycles for one in found]
    rows = [[" "] * WIDE for _ in range(HIGH)]
    drawn = zip(heights, cycles, _marks(found), strict=True)
    for y, x, mark in sorted(drawn, reverse=True):
        row = rows[HIGH - 1 - _place(y, heights, HIGH)]
        row[_place(x, cycles, WIDE)] = mark
    yield f"{name} {max(heights):,} B"
    yield from (f"| {''.join(row)}".rstrip() for row in rows)
    yield f"+{'-' * WIDE} {name} {min(heights):,} B"
    right = f"{max(cycles):,} cycles"
    yield f"  {min(cycles):,}".ljust(WIDE + 2 - len(right)) + right


def _place(value: int, values: Sequence[int], size: int) -> int:
    low, high = min(values), max(values)
    return (size - 1) * (value - low) // max(1, high - low)
