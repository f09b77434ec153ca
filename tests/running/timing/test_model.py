"""Executions of blocks become cycles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from microgen.running.timing import of_cpu
from microgen.running.timing.model import BasicBlock, ProgramPart, TimingModel
from microgen.target import board as boards
from microgen.verifier.instructions.arch_arm import Arm

LISTING = """
00000100 <f>:
 100:\t2108      \tmovs\tr1, #8
 102:\t1840      \tadds\tr0, r0, r1
 104:\t3901      \tsubs\tr1, #1
 106:\td1fc      \tbne.n\t102 <f+0x2>
 108:\t4770      \tbx\tlr
"""
BLOCKS = {1: BasicBlock(0x100, 4), 2: BasicBlock(0x102, 3), 3: BasicBlock(0x108, 1)}
# The loop runs eight times: the first in the block that leads to it, which jumps, then seven times
# in a block of its own, which jumps six times.
RAN = np.array([1, 1, 0, 2, 7, 1, 3, 1, 0])


def _cycles(part: ProgramPart, wait_states: int = 0, blocks: dict[int, BasicBlock] = BLOCKS) -> int:
    board = replace(boards.load("mps2_an386"), flash_wait_states=wait_states)
    core = of_cpu(board.cpu)
    assert core is not None
    return TimingModel(core, board, Arm().parse(LISTING)).cycles(part, blocks.__getitem__)


def test_taken_branches_take_longer_than_others() -> None:
    assert _cycles(ProgramPart(RAN, 0, 0, 0, 0)) == 1 + 8 * 3 + 7 * 1 + 1 + 2


def test_flash_waits_for_lines_that_are_not_kept() -> None:
    part = ProgramPart(RAN, flash_bytes=400, data_misses=50, jumps=3, follows=4)
    fast = _cycles(part)
    # Lines of 8 bytes: a prefetch hides two cycles.
    assert [_cycles(part, n) - fast for n in (1, 2, 5)] == [53, 106, 5 * 53 + 3 * 4]


def test_code_that_was_not_disassembled_takes_a_cycle_each() -> None:
    part = ProgramPart(np.array([1, 10, 10]), 0, 0, 0, 0)
    assert _cycles(part, blocks={1: BasicBlock(0x900, 3)}) == 30


def test_nothing_takes_no_time() -> None:
    assert _cycles(ProgramPart(np.array([], np.int64), 0, 0, 0, 0)) == 0
