"""The architectures that verify knows, by the board's CPU."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from microgen.target.board import Board
from microgen.verifier.instructions.arch_arm import Arm
from microgen.verifier.instructions.arch_riscv import RiscV
from microgen.verifier.instructions.architecture import Architecture
from microgen.verifier.instructions.instruction import Instruction

_ARCHITECTURES: Mapping[str, Architecture] = {"arm": Arm(), "riscv": RiscV()}


def architecture_of(board: Board) -> Architecture:
    """The architecture of a board that is not the host."""
    return _ARCHITECTURES[board.cpu.architecture]


def instructions(board: Board, text: str) -> Mapping[int, Instruction]:
    """The instructions in the text of ``objdump -d``, by address."""
    return _parsed(board.cpu.architecture, text)


# Several checks read the same text, and to read it takes longer than to check it.
@functools.lru_cache(maxsize=1)
def _parsed(architecture: str, text: str) -> Mapping[int, Instruction]:
    return _ARCHITECTURES[architecture].parse(text)
