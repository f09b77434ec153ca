"""Modelled cycles and bytes read from flash, from the counts of the profiler's plugin."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from microgen.building.builder import disassemble
from microgen.running import timing
from microgen.running.timing import Conditions, CoreTimings
from microgen.running.timing.model import BasicBlock, ProgramPart, TimingModel
from microgen.target.board import Board
from microgen.verifier.instructions import architectures


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of an inference or a call: modelled cycles, and bytes read from flash as data.
    ``waited`` and ``followed`` are the lines of flash for which the core waits: ``waited`` the
    lines of data and after jumps, ``followed`` the next lines of code. They are counted if flash
    has wait states."""

    cycles: int
    flash_bytes: int
    waited: int = 0
    followed: int = 0

    def __add__(self, other: RunCost) -> RunCost:
        return RunCost(*map(operator.add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class RunCosts:
    """Modelled costs of a run. ``rows``: for each sample and each model, in order, the cost of the
    inference, then of each operator call. ``conditions`` are the core, clock and wait states for
    which the times are modelled. ``stands`` names the core whose timings stand for the board's CPU,
    if the CPU has no timings of its own. ``inside``: for each sample and each model the costs of
    layers that operators compute by calls of functions, as in ``profile.inside``."""

    conditions: Conditions
    rows: tuple[tuple[tuple[RunCost, ...], ...], ...]
    stands: str = ""
    inside: tuple[tuple[Mapping[tuple[int, int], RunCost], ...], ...] = ()

    @property
    def totals(self) -> tuple[RunCost, ...]:
        """The cost of each sample, of all models."""
        return tuple(sum((row[0] for row in sample), _NOTHING) for sample in self.rows)

    def outside_calls(self, row: Sequence[RunCost]) -> RunCost:
        """The cost of an inference, the first in its row, outside of all operator calls."""
        # Calls are parts of their inference, so the inference's first number includes theirs.
        cycles = row[0].cycles - sum(cost.cycles for cost in row[1:])
        return RunCost(cycles, row[0].flash_bytes - sum(cost.flash_bytes for cost in row[1:]))

    def __str__(self) -> str:
        return "; ".join(filter(None, (str(self.conditions), self.stands)))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        calls = [[cost for row in sample for cost in row[1:]] for sample in self.rows]
        milliseconds = self.conditions.milliseconds
        return {
            **self.conditions.to_json(),
            "stands": self.stands or None,
            "cycles": [cost.cycles for cost in self.totals],
            "milliseconds": [milliseconds(cost.cycles) for cost in self.totals],
            "flash_bytes": [cost.flash_bytes for cost in self.totals],
            "per_call": {
                "cycles": [[cost.cycles for cost in row] for row in calls],
                "milliseconds": [[milliseconds(c.cycles) for c in row] for row in calls],
                "flash_bytes": [[cost.flash_bytes for cost in row] for row in calls],
            },
        }


_NOTHING = RunCost(0, 0)


def of_run(
    core: CoreTimings, board: Board, elf: Path, counted: Path, calls: Sequence[int]
) -> RunCosts:
    """The costs of a run of ``elf``. ``counted`` is the file of blocks that the plugin wrote in
    this run. ``calls`` has each model's number of operator calls. Raises BuildError if objdump
    fails."""
    code = architectures.instructions(board, disassemble(elf, board))
    inferences = list(_inferences(TimingModel(core, board, code), counted, calls))
    # Each sample runs all models, so ``width`` rows in the file are one sample.
    width = len(calls)
    samples = [inferences[i : i + width] for i in range(0, len(inferences), width)]
    rows = tuple(tuple(row for row, _ in sample) for sample in samples)
    inside = tuple(tuple(own for _, own in sample) for sample in samples)
    conditions = Conditions(core, board.clock_hz, board.flash_wait_states)
    return RunCosts(conditions, rows, timing.remark(board.cpu), inside)


def _inferences(
    model: TimingModel, counted: Path, calls: Sequence[int]
) -> Iterator[tuple[tuple[RunCost, ...], Mapping[tuple[int, int], RunCost]]]:
    """The costs of each inference in the file: its own costs, then the costs of its calls; and the
    costs of layers inside of calls."""
    blocks: dict[int, BasicBlock] = {}
    costs: list[RunCost] = []
    inside: dict[tuple[int, int], RunCost] = {}
    number = 0
    with counted.open() as file:
        # profile.c writes "b key address count" for a block, "p call ..." for a part of an
        # inference, and another line at its end.
        for line in file:
            # Element 0 collects the instructions outside of all calls, elements 1 and up the calls.
            costs = costs or [_NOTHING] * (calls[number % len(calls)] + 1)
            kind, _, numbers = line.partition(" ")
            if kind == "b":
                key, address, count = map(int, numbers.split())
                blocks[key] = BasicBlock(address, count)
            elif kind == "p":
                call, share, part = _part(numbers)
                cycles = model.cycles(part, blocks.__getitem__)
                lines = (part.data_misses + part.jumps, part.follows)
                own = RunCost(cycles, part.flash_bytes, *lines)
                costs[call] += own
                if share:
                    layer = call - 1, share
                    inside[layer] = inside.get(layer, _NOTHING) + own
            else:
                yield (sum(costs, _NOTHING), *islice(costs, 1, None)), inside
                # The sum over all parts is the inference; element 0 alone is not reported.
                costs, inside, number = [], {}, number + 1


def _part(text: str) -> tuple[int, int, ProgramPart]:
    numbers = np.array(text.split(), np.int64)
    call, share, flash_bytes, data, jumps, follows = map(int, numbers[:6])
    return call, share, ProgramPart(numbers[6:], flash_bytes, data, jumps, follows)
