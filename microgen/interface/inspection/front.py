"""The Pareto front of schedules as data, as a table, and drawn with characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from microgen.base.output.text_layout import Column, Listing, Part, Table
from microgen.compiler.schedule import Front, FrontPoint
from microgen.interface.inspection.costs import CostConditions
from microgen.planner.program.ram import ARENA_IO, TOTAL
from microgen.target.board import Board

WIDE, HIGH = 60, 14  # characters of the drawing
_MARKS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Estimated(CostConditions):
    """The conditions with which estimates are shown."""

    @classmethod
    def on_board(cls, board: Board, clock_hz: int = 0) -> Self:
        """The conditions for a board, with the board's clock or with ``clock``."""
        return cls.on(board.cpu, clock_hz or board.clock_hz, board.flash_wait_states)

    def waits(self, one: FrontPoint) -> int:
        """The cycles in which a schedule waits for flash."""
        conditions = self.conditions
        return conditions.waiting(one.score.waited, one.score.followed) if conditions else 0

    def cycles(self, one: FrontPoint) -> int:
        """The cycles of a schedule, including the cycles in which it waits for flash."""
        return one.score.cycles + self.waits(one)

    def milliseconds(self, one: FrontPoint) -> float | None:
        """The time of a schedule; None if it is not known."""
        return self.conditions.milliseconds(self.cycles(one)) if self.conditions else None

    def about(self, front: Front) -> Iterator[str]:
        """Sentences about the estimates and the costs that they leave out."""
        first = front.found[0]
        if self.conditions:
            yield str(self)
        if first.score.unmeasured:
            yield (
                "cycles, instructions and code do not include "
                f"{_layers(first.score.unmeasured)} without a cost"
            )
        for codegen, layers in first.left_out.items():
            yield (
                f"cycles, ms, instructions and flash do not include {_layers(layers)} that "
                f"{codegen} computes: `microgen run --profile` counts what they take"
            )


def _layers(count: int) -> str:
    return f"{count} layer" if count == 1 else f"{count} layers"


def to_json(front: Front, estimated: Estimated) -> dict[str, Any]:
    """Plain data, in the form of docs/schemas/plan.json."""
    conditions = estimated.conditions
    return {
        "considered": front.considered,
        "ram_bound": front.bound,
        "modelled": conditions.to_json() if conditions else None,
        **estimated.to_json(),
        "left_out": dict(front.found[0].left_out),
        "schedules": [
            {
                "ram": one.ram.arena_io,
                "ram_bound": one.ram.least,
                "ram_total": one.total,
                "cycles": estimated.cycles(one),
                "waits": estimated.waits(one),
                "milliseconds": estimated.milliseconds(one),
                "instructions": one.score.instructions,
                "flash": one.score.flash,
                "unmeasured": one.score.unmeasured,
                "goals": list(one.goals),
                "kernels": dict(_kernels(one)),
            }
            for one in front.found
        ],
    }


def parts(front: Front, estimated: Estimated) -> Iterator[Part]:
    """The table, the drawing if there are several schedules, and the figures of the search."""
    yield _table(front, estimated)
    if len(front.found) > 1:
        yield ""
        yield Listing("\n".join(_drawing(front.found, estimated)))
    yield ""
    yield from estimated.about(front)
    yield f"{len(front.found)} of {front.considered:,} schedules considered"
    if front.bound is not None:
        gap = min(one.ram.arena_io for one in front.found) - front.bound
        yield (
            f"certificate: no schedule needs less than {front.bound:,} bytes of {ARENA_IO}; "
            f"the smallest of these needs {f'{gap:,} more' if gap else 'no more'}"
        )


def _kernels(one: FrontPoint) -> list[tuple[str, int]]:
    """The implementations with the number of calls that each computes, the most used first."""
    regions = one.schedule.partition.regions
    names = [
        f"{choice.symbol}{' (shared)' if choice.is_shared else ''}"
        for region in regions
        for choice in region.choices
    ]
    return Counter(names).most_common()


def _table(front: Front, estimated: Estimated) -> Table:
    numbers = (f"{ARENA_IO} B", f"{TOTAL} B", "cycles", "ms", "instructions", "flash B")
    table = Table(
        [
            Column("#"),
            *(Column(name, right=True) for name in numbers),
            Column("--optimize"),
            Column("implementations", shorten=True, optional=True),
        ]
    )
    for number, (mark, one) in enumerate(zip(_marks(front.found), front.found, strict=True), 1):
        time = estimated.milliseconds(one)
        table.add(
            f"{number}" if mark == f"{number}" else f"{number} {mark}",
            f"{one.ram.arena_io:,}",
            "n/a" if one.total is None else f"{one.total:,}",
            f"{estimated.cycles(one):,}" if estimated.conditions else "n/a",
            "n/a" if time is None else f"{time:,.3f}",
            f"{one.score.instructions:,}" if estimated.conditions else "n/a",
            f"{one.score.flash:,}",
            ", ".join(one.goals),
            ", ".join(f"{count} {name.removeprefix('mg_')}" for name, count in _kernels(one)),
        )
    return table


def _marks(points: Sequence[FrontPoint]) -> Iterator[str]:
    """A character for each schedule; if there are more schedules than characters, the last ones
    share a character."""
    return (_MARKS[min(i, len(_MARKS) - 1)] for i in range(len(points)))


def _drawing(points: Sequence[FrontPoint], estimated: Estimated) -> Iterator[str]:
    """A drawing with cycles to the right and arena + I/O upwards, or flash upwards if arena + I/O
    is equal for all schedules. If several marks fall on one place, the lowest schedule's is drawn.
    """
    ram, flash = [one.ram.arena_io for one in points], [one.score.flash for one in points]
    name, heights = (ARENA_IO, ram) if len(set(ram)) > 1 else ("flash", flash)
    cycles = [estimated.cycles(one) for one in points]
    rows = [[" "] * WIDE for _ in range(HIGH)]
    drawn = zip(heights, cycles, _marks(points), strict=True)
    # Reversed, so that the least of several marks in one place is drawn last.
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
