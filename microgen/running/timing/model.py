"""Computes cycles from the executions of blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.running.timing.core import CoreTimings
from microgen.target.board import Board
from microgen.verifier.instructions.instruction import Instruction


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """A run of instructions that was translated at once: address of the first, and their number."""

    address: int
    instructions: int


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """The counts of a call, or of the code outside of all calls. ``executions``: a row for each
    block that ran with its number, the number of its executions, and the number of times that
    execution continued right after it. ``flash_bytes`` were read from flash as data, in
    ``data_misses`` lines; ``jumps`` are the lines of code that were read after a jump, ``follows``
    the lines that were read because the code before them ended."""

    executions: np.ndarray
    flash_bytes: int
    data_misses: int
    jumps: int
    follows: int


class TimingModel:
    """Cycles of parts of a program, whose disassembly is ``code``, on a board."""

    def __init__(self, core: CoreTimings, board: Board, code: Mapping[int, Instruction]) -> None:
        self._core, self._code = core, code
        self._wait = board.flash_wait_states
        self._costs: dict[BasicBlock, tuple[int, int]] = {}

    def cycles(self, part: ProgramPart, block: Callable[[int], BasicBlock]) -> int:
        """The cycles of a part, whose blocks ``block`` finds by number."""
        numbers, began, fell = part.executions.reshape(-1, 3).T
        # A block often runs many times, so its cost is computed once and multiplied.
        costs = [self._cost(block(int(number))) for number in numbers]
        # 64 bits, because the cycles of a network exceed 2^31.
        through, taken = np.array(costs, np.int64).reshape(-1, 2).T
        # A block that began and did not continue right after its end has jumped.
        return int(through @ began + taken @ (began - fell)) + self._waiting(part)

    def _waiting(self, part: ProgramPart) -> int:
        """The cycles in which the core waits for flash."""
        waited = part.data_misses + part.jumps
        return self._core.flash.waiting(self._wait, waited, part.follows)

    def _cost(self, block: BasicBlock) -> tuple[int, int]:
        """The cycles of a block that falls through, and the cycles that a jump at its end adds."""
        if block not in self._costs:
            self._costs[block] = self._priced(block)
        return self._costs[block]

    def _priced(self, block: BasicBlock) -> tuple[int, int]:
        known: list[Instruction] = []
        address = block.address
        # The plugin's blocks end where QEMU ended translation, not at branches, so instructions are
        # counted.
        while len(known) < block.instructions and address in self._code:
            known.append(self._code[address])
            address = known[-1].address + known[-1].size
        unknown = block.instructions - len(known)  # data that runs, or code that was not linked
        # An instruction that objdump does not show is assumed to take one cycle.
        if not known or unknown:
            return self._core.block(known) + unknown, 0
        return self._core.block(known), self._core.taken(known[-1], self._target(known[-1]))

    def _target(self, branch: Instruction) -> Instruction | None:
        """The instruction that a branch names, if it names one."""
        try:
            return self._code.get(branch.target)
        # A branch to a register has no target in its text.
        except (ValueError, IndexError):
            return None
