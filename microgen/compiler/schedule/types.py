"""A schedule: which nodes form one function, by which implementation, in which order of calls."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.compiler.partition import Partition


@dataclass(frozen=True, slots=True)
class Score:
    """The costs of a schedule other than RAM, as estimated before anything is compiled.

    ``instructions`` and ``cycles`` are of one inference, of the layers whose implementations have
    measured costs; ``unmeasured`` counts the other layers. ``flash`` is bytes of the operators'
    code and of the constants, without start-up, runner and ``main``. ``waited`` and ``followed``
    are lines of flash, as in ``kernels.cost.Cost``.
    """

    instructions: int
    cycles: int
    flash: int
    unmeasured: int = 0
    waited: int = 0
    followed: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """A partition whose regions are in the order of their calls and have their choices.

    ``goal`` is the goal of ``--optimize``, or "file" if a file decided. ``considered`` counts the
    schedules that were compared, this one included. ``bound`` is the certificate: a lower bound of
    the RAM of all schedules of the search, or None if it is not known.
    """

    partition: Partition
    goal: str
    score: Score
    considered: int
    bound: int | None = None
