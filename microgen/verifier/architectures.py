"""The architectures that verify knows, by the board's CPU."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.target.board import Board
from microgen.verifier.arch_arm import Arm
from microgen.verifier.arch_riscv import RiscV
from microgen.verifier.architecture import Architecture

_ARCHITECTURES: Mapping[str, Architecture] = {"arm": Arm(), "riscv": RiscV()}


def architecture_of(board: Board) -> Architecture:
    """The architecture of a board that is not the host."""
    return _ARCHITECTURES[board.cpu.architecture]
