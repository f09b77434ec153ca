"""The costs of a schedule other than RAM."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """The costs of a schedule other than RAM, as estimated before anything is compiled.

    ``instructions`` and ``cycles`` are of one inference, of the layers whose implementations have
    measured costs; ``unmeasured`` counts the other layers. ``flash`` is bytes of the operators'
    code and of the constants, without start-up, runner and ``main``. ``waited`` and ``followed``
    are lines of flash, as in ``kernels.cost.Cost``. ``code`` is the part of ``flash`` that is code.
    """

    instructions: int = 0
    cycles: int = 0
    flash: int = 0
    unmeasured: int = 0
    waited: int = 0
    followed: int = 0
    code: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))
