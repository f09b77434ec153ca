"""The three forms in which CMSIS-NN compiles."""

from __future__ import annotations

import enum

from microgen.target.board import Board
from microgen.target.cpu import Cpu, Feature


class Form(enum.Enum):
    """CMSIS-NN's form for a CPU. Its headers choose the same from the compiler's macros:
    ``ARM_MATH_MVEI``, else ``ARM_MATH_DSP``, else neither, as on every CPU that is not Arm's."""

    PLAIN = "plain"
    DSP = "dsp"
    MVE = "mve"

    @classmethod
    def of(cls, board: Board) -> Form:
        """The form for a board's CPU."""
        return cls.of_cpu(board.cpu)

    @classmethod
    def of_cpu(cls, cpu: Cpu) -> Form:
        """The form for a CPU."""
        if Feature.MVE in cpu.features:
            return cls.MVE
        return cls.DSP if Feature.DSP in cpu.features else cls.PLAIN
