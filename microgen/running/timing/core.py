"""A core's timings: a table with a source in each row, and the rules of its pipeline."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from microgen.verifier.instructions.instruction import Instruction


@dataclass(frozen=True, slots=True)
class TimingRow:
    """Instructions that take equally long. ``mnemonics`` is a regular expression of the whole
    mnemonic, without width and without an IT block's condition.

    During ``cycles`` nothing else is issued. ``each`` is the number of further cycles for every
    register of the instruction's list. ``taken``: further cycles if the instruction changes the
    program counter. ``source`` is the manual and its section, or the measurement. ``latency`` and
    ``unit`` are read by ``in_order`` only: the cycles after which another instruction can use the
    result, and the unit that executes it.
    """

    mnemonics: str
    cycles: int
    source: str
    each: int = 0
    taken: int = 0
    latency: int = 1
    unit: str = "alu"


@dataclass(frozen=True, slots=True)
class Flash:
    """The model of flash: the bytes that it reads at once (a line), and the numbers of cached lines
    of code and of cached sets of eight lines of data."""

    line_bytes: int
    code_lines: int
    data_sets: int

    def waiting(self, wait_states: int, waited: int, followed: int) -> int:
        """The cycles in which a core waits for lines of data and code after jumps (``waited``), and
        for next lines of code. A prefetch hides a part of the waits for next lines, because it
        fetches a line while the code of the line before it runs."""
        # A word of code is assumed to run for a cycle, in which the next line is fetched.
        return wait_states * waited + max(wait_states - self.line_bytes // 4, 0) * followed


class Pipeline(Protocol):
    """A model of the overlap of a block's instructions."""

    def cycles(self, core: CoreTimings, block: Sequence[Instruction]) -> int:
        """The cycles of a block, if execution continues after it."""


@dataclass(frozen=True)
class CoreTimings:
    """A core's timings. A mnemonic has the first row that matches it; the last row matches all.

    ``is_fitted``: the timings are not all published, so rows are assumed, and were compared with
    measurements if there are any. ``assumptions`` name the gaps of the table and the chosen values.
    ``unaligned``: further cycles of a taken branch to an instruction of 32 bits that is not at a
    multiple of four.
    """

    name: str
    title: str
    rows: tuple[TimingRow, ...]
    pipeline: Pipeline
    assumptions: tuple[str, ...]
    is_fitted: bool = False
    unaligned: int = 0
    flash: Flash = Flash(8, 128, 4)  # 64 bits; caches of 1 KB and 256 bytes, as in STM32L4
    # The number of mnemonics is small, so the dictionary never grows large.
    # The rows of mnemonics that were found: a search tries many regular expressions.
    _row_by_mnemonic: dict[str, TimingRow] = field(default_factory=dict, compare=False, repr=False)

    def row(self, mnemonic: str) -> TimingRow:
        """The first row that matches the mnemonic."""
        if mnemonic not in self._row_by_mnemonic:
            # A regular expression must match the whole mnemonic, otherwise "b" would match "bic".
            self._row_by_mnemonic[mnemonic] = next(
                r for r in self.rows if _pattern(r).fullmatch(mnemonic)
            )
        return self._row_by_mnemonic[mnemonic]

    def block(self, block: Sequence[Instruction]) -> int:
        """The cycles of a block that falls through."""
        return self.pipeline.cycles(self, block) if block else 0

    def taken(self, last: Instruction, target: Instruction | None) -> int:
        """The further cycles if the last instruction of a block jumps to ``target``, if known."""
        # An instruction of 32 bits that is not aligned is in two words, which are fetched one after
        # the other.
        is_split = target is not None and target.size == 4 and target.address % 4 != 0
        return self.row(last.mnemonic).taken + (self.unaligned if is_split else 0)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a modelled time: a core, its clock (0 if it is not known), and the wait
    states of flash at that clock. Every command prints them with its figures."""

    core: CoreTimings
    clock_hz: int
    wait_states: int

    def milliseconds(self, cycles: int) -> float | None:
        """The time of a number of cycles; None if the clock is not known."""
        return 1000 * cycles / self.clock_hz if self.clock_hz else None

    def waiting(self, waited: int, followed: int) -> int:
        """The cycles in which the core waits for lines of flash (``Flash.waiting``)."""
        return self.core.flash.waiting(self.wait_states, waited, followed)

    def __str__(self) -> str:
        fitted = ", fitted" if self.core.is_fitted else ""
        clock = f"{self.clock_hz / 1e6:g} MHz" if self.clock_hz else "clock unknown"
        flash = f"{self.wait_states} wait states of flash"
        return f"cycles are modelled: {self.core.title}{fitted}, {clock}, {flash}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "core": self.core.title,
            "fitted": self.core.is_fitted,
            "clock_hz": self.clock_hz or None,
            "flash_wait_states": self.wait_states,
        }


@functools.cache
def _pattern(row: TimingRow) -> re.Pattern[str]:
    return re.compile(row.mnemonics)
