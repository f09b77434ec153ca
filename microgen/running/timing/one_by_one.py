"""Pipelines that issue one instruction at a time: the cycles of a block are a sum over its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.running.timing import operands
from microgen.running.timing.core import CoreTimings
from microgen.verifier.instructions.instruction import Instruction


@dataclass(frozen=True, slots=True)
class Sum:
    """Nothing overlaps. Sources: DDI 0432C, section 3.3; DDI 0484C, section 3.3."""

    def cycles(self, core: CoreTimings, block: Sequence[Instruction]) -> int:
        """As in ``Pipeline``."""
        return sum(_alone(core, instruction) for instruction in block)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Loads and stores overlap with their neighbours: DDI 0337I and DDI 0439D, section 3.3.

    A load or store right after a load takes a cycle less, unless the load computes its address. A
    store with an immediate offset always takes one cycle, because it is buffered; nothing overlaps
    with a store before it. An address that the instruction before has computed takes a cycle more.
    The result of a float operation takes a cycle more if the next instruction uses it: DDI 0439D,
    table 7-1.
    """

    def cycles(self, core: CoreTimings, block: Sequence[Instruction]) -> int:
        """As in ``Pipeline``."""
        total, before = 0, None
        for instruction in block:
            total += _alone(core, instruction) + _beside(core, before, instruction)
            before = instruction
        return total


def _alone(core: CoreTimings, instruction: Instruction) -> int:
    row = core.row(instruction.mnemonic)
    return row.cycles + (row.each and row.each * operands.count(instruction))


def _beside(core: CoreTimings, before: Instruction | None, instruction: Instruction) -> int:
    """The cycles that the instruction before it adds to an instruction; negative if it saves
    some."""
    is_store = operands.is_store(instruction.mnemonic)
    is_buffered = is_store and _has_immediate_offset(instruction)
    if before is None:
        # A load before the block is not known, so only a store that is buffered saves a cycle.
        return -1 if is_buffered else 0
    written, effect = operands.written(before), instruction.effect
    is_after_load = operands.is_load(before.mnemonic)
    is_single = is_store or operands.is_load(instruction.mnemonic)
    waits = not is_after_load and bool(written & effect.address)
    if core.row(before.mnemonic).unit == "fpu" and written & effect.reads:
        return core.row(before.mnemonic).latency - 1
    overlaps = is_buffered or (is_single and is_after_load and not written & effect.address)
    return int(waits) - int(overlaps)


def _has_immediate_offset(instruction: Instruction) -> bool:
    """Whether the address is a register, or a register and a number."""
    return len(instruction.effect.address) == 1
