"""The RAM that ``speed`` may take beside ``balanced``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from microgen.compiler.schedule.search import ScheduleSearch
from microgen.compiler.schedule.state import Candidate, Scorer

# More than MOST_RAM halves of the RAM of ``balanced`` must save one cycle in LEAST_GAIN.
MOST_RAM, LEAST_GAIN = 3, 20


def sparing(
    best: Candidate, scorer: Scorer, balanced: Callable[[], Candidate]
) -> tuple[Candidate, int]:
    """The candidate, which the goal ``speed`` found, unless it takes more than 1.5 times the arena
    and I/O of ``balanced`` for less than 5 % of the cycles. Then it is the fastest that a search
    finds within so many bytes. The second result counts the schedules that were compared."""
    taken = scorer.ram(best).arena_io
    # No schedule takes notably less than one without scratch, and it is known sooner.
    if _is_spared(taken, scorer.ram(_lean(best, scorer)).arena_io):
        return best, 0
    other = balanced()
    nbytes = scorer.ram(other).arena_io
    if _is_spared(taken, nbytes) or _is_worth_it(best, other):
        return best, 0
    search = ScheduleSearch(
        *(scorer.space, replace(scorer, plans=0, rams={}), "speed"),
        first=other,
        most=nbytes * MOST_RAM // 2,
    )
    return search.best(), search.considered


def _is_spared(taken: int, nbytes: int) -> bool:
    return 2 * taken <= MOST_RAM * nbytes


def _is_worth_it(best: Candidate, other: Candidate) -> bool:
    saved = other.cheap[0] - best.cheap[0]
    return LEAST_GAIN * saved >= other.cheap[0]


def _lean(best: Candidate, scorer: Scorer) -> Candidate:
    """The candidate with options that have the least scratch; of equal ones, the first."""
    single = scorer.space.single
    return best.after(
        {name: min(options, key=lambda one: one.scratch) for name, options in single.items()}
    )
