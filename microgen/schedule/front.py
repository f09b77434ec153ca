"""The Pareto front: the schedules that no other beats in RAM, cycles and flash at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from microgen.partition import Partition
from microgen.schedule.choose import made
from microgen.schedule.goals import GOALS
from microgen.schedule.options import Space, space
from microgen.schedule.search import Search
from microgen.schedule.state import Picks, RamOf, Scorer, score
from microgen.schedule.types import Ram, Schedule, Score
from microgen.target.cpu import Cpu

PLANS = 160  # candidates of all searches that are lowered and planned


@dataclass(frozen=True, slots=True)
class Found:
    """A schedule of the front, its RAM, and the goals of ``--optimize`` that choose it."""

    schedule: Schedule
    ram: Ram
    goals: tuple[str, ...]

    @property
    def score(self) -> Score:
        """What it costs besides RAM."""
        return self.schedule.score


@dataclass(frozen=True, slots=True)
class Front:
    """The front, fastest first. ``considered`` counts the schedules that were compared, ``bound``
    is the least RAM bound in bytes among those that were planned."""

    found: tuple[Found, ...]
    considered: int
    bound: int


@dataclass(slots=True)
class _Kept:
    """The candidates that no other beats so far."""

    scorer: Scorer
    picks: list[Picks] = field(default_factory=list)

    def visit(self, picks: Picks) -> None:
        """Keep the candidate unless another is at least as good in everything."""
        if len(self.scorer.rams) >= PLANS and not self.scorer.is_planned(picks):
            return
        cheap = self.scorer.cheap(picks)
        beaten = (self._axes(one) for one in self.picks)
        base = self.picks[0] if self.picks else picks
        least = (self.scorer.least_ram(picks, base), *cheap)
        if any(_covers(axes, least) for axes in beaten):
            return
        mine = self._axes(picks)
        if not any(_covers(self._axes(one), mine) for one in self.picks):
            self.picks = [one for one in self.picks if not _covers(mine, self._axes(one))]
            self.picks.append(picks)

    def _axes(self, picks: Picks) -> tuple[int, int, int]:
        return self.scorer.ram(picks).peak, *self.scorer.cheap(picks)


def _covers(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def explore(partition: Partition, cpu: Cpu, ram_of: RamOf) -> Front:
    """The front of all candidates that the searches for each goal compare."""
    found = space(partition, cpu, prefers_shared=False)
    scorer = Scorer(found, ram_of)
    kept = _Kept(scorer)
    searches = [Search(found, scorer, goal, kept.visit, PLANS) for goal in GOALS]
    best = {search.goal: search.best() for search in searches}
    considered = sum(search.considered for search in searches)
    for picks in best.values():
        kept.visit(picks)
    entries = [_found(found, picks, scorer, best, considered) for picks in kept.picks]
    entries.sort(key=lambda one: (one.score.cycles, one.ram.peak, one.score.flash))
    return Front(tuple(entries), considered, scorer.bound or 0)


def _found(
    found: Space, picks: Picks, scorer: Scorer, best: Mapping[str, Picks], considered: int
) -> Found:
    mine = (scorer.ram(picks), score(picks))
    goals = tuple(g for g, one in best.items() if (scorer.ram(one), score(one)) == mine)
    schedule = made(found, picks, scorer, goal=goals[0] if goals else "file", considered=considered)
    return Found(schedule, scorer.ram(picks), goals)
