"""Pipelines that issue in order, several instructions in a cycle if units and operands allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from microgen.running.timing import operands
from microgen.running.timing.core import CoreTimings, TimingRow
from microgen.verifier.instructions.instruction import Instruction

_Issued = list[tuple[TimingRow, Instruction]]


@dataclass(frozen=True, slots=True)
class InOrder:
    """Issues up to ``width`` instructions in a cycle, each when its operands are ready.

    ``units``: the number of instructions of a unit that can be issued in a cycle (1 if the unit is
    not named). Instructions of unit "alone" are issued alone. ``is_narrow``: only instructions of
    16 bits are issued together. ``overlap``: units of which an instruction can start in the last
    cycle of an instruction of another of these units. ``busy``: units that begin nothing before
    their last result. A block is assumed to start with all operands ready, even if the block before
    it ends with pending results.
    """

    width: int
    units: Mapping[str, int] = field(default_factory=dict)
    is_narrow: bool = False
    overlap: frozenset[str] = frozenset()
    busy: frozenset[str] = frozenset()

    def cycles(self, core: CoreTimings, block: Sequence[Instruction]) -> int:
        """As in ``Pipeline``."""
        ready: dict[str, int] = {}
        issued: _Issued = []
        clock = 0
        for instruction in block:
            row, effect = core.row(instruction.mnemonic), instruction.effect
            unit = {row.unit} & self.busy
            # Operands of earlier instructions, and units that are busy, delay the start.
            start = max([clock, *(ready.get(r, 0) for r in effect.reads | unit)])
            if issued and (start > clock or not self._fits(issued, row, instruction)):
                start = max(start, clock + self._occupied(issued, row))
                issued = []
            clock = start
            issued.append((row, instruction))
            # The length of the register list decides the cycles of LDM, STM, PUSH and POP.
            words = operands.count(instruction) if row.each else 0
            taken = row.cycles + row.each * words
            for register in operands.written(instruction) | unit:
                # A result is never ready before its instruction has finished.
                ready[register] = clock + max(row.latency, taken)
            # Such an instruction blocks the whole pipeline. Overlapping ones are counted by
            # ``_occupied``.
            if taken > 1 and row.unit not in self.overlap:
                clock, issued = clock + taken, []
        return clock + (self._occupied(issued, None) if issued else 0)

    def _fits(self, issued: _Issued, row: TimingRow, instruction: Instruction) -> bool:
        # An instruction of several cycles is never issued together with another one.
        if len(issued) >= self.width or row.unit == "alone" or row.cycles + row.each > 1:
            return False
        if any(r.unit == "alone" or r.cycles + r.each > 1 for r, _ in issued):
            return False
        is_wide = any(i.size > 2 for i in (instruction, *(i for _, i in issued)))
        same = sum(r.unit == row.unit for r, _ in issued)
        return not (self.is_narrow and is_wide) and same < self.units.get(row.unit, 1)

    def _occupied(self, issued: _Issued, row: TimingRow | None) -> int:
        """The cycles until an instruction can follow the instructions that are issued together."""
        before = issued[-1][0]
        both = {before.unit, row.unit if row else ""} & self.overlap
        # Another overlapping unit can start a cycle later, the same unit only when it is free.
        return before.cycles if len(both) < 2 and before.unit in self.overlap else 1
