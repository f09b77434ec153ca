"""A schedule: which nodes form one function, by which implementation, in which order of calls."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.codegens.base import Region


@dataclass(frozen=True, slots=True)
class Ram:
    """RAM of a schedule in bytes: ``peak`` is the workspace's with the caller's input and output
    buffers, ``bound`` the least that any plan of the same schedule could need."""

    peak: int
    bound: int


@dataclass(frozen=True, slots=True)
class Score:
    """What a schedule costs, as estimated before anything is compiled.

    ``ram`` is planned. ``instructions`` and ``cycles`` are of one inference, of the layers whose
    implementations have measured costs; ``unmeasured`` counts the other layers. ``flash`` is bytes
    of the operators' code and of the constants, without start-up, runner and ``main``.
    """

    ram: Ram
    instructions: int
    cycles: int
    flash: int
    unmeasured: int = 0

    def dominates(self, other: Score) -> bool:
        """Whether it is as good as the other in RAM, cycles and flash, and better in one."""
        mine, others = self.axes, other.axes
        return mine != others and all(a <= b for a, b in zip(mine, others, strict=True))

    @property
    def axes(self) -> tuple[int, int, int]:
        """RAM, cycles, flash."""
        return self.ram.peak, self.cycles, self.flash


@dataclass(frozen=True, slots=True)
class Schedule:
    """Regions in the order of their calls, each with its choices, and what they cost.

    ``goal`` is that of ``--optimize``, or "file" if a file decided. ``considered`` counts the
    schedules that were scored, this one included, and ``bound`` is the least RAM bound among those
    that were planned.
    """

    regions: tuple[Region, ...]
    goal: str
    score: Score
    considered: int
    bound: int
