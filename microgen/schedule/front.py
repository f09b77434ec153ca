"""The Pareto front: the schedules that no other beats in RAM, cycles and flash at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from microgen.errors import ProjectError
from microgen.files import FileTree
from microgen.manifest.schedule import FROM_FILE, Origin
from microgen.partition import Partition
from microgen.schedule import feeding, start
from microgen.schedule.choose import forced_picks, made
from microgen.schedule.division import pieces
from microgen.schedule.file import dumps, record
from microgen.schedule.goals import GOALS, ROLLS
from microgen.schedule.options import Space, space
from microgen.schedule.search import Search
from microgen.schedule.state import Candidate, Picks, RamOf, Scorer
from microgen.schedule.types import Ram, Schedule, Score
from microgen.target.cpu import Cpu

_NAME = re.compile(r"schedule-[0-9]+\.json")
PLANS = 160  # candidates of all searches that are lowered and planned


@dataclass(frozen=True, slots=True)
class Found:
    """A schedule of the front, its RAM, and the goals of ``--optimize`` that choose it or one that
    costs the same."""

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
    is the certificate: the bytes of RAM that no schedule of the searches needs less of. ``origin``
    says of what the front is. Both are None if they are not known."""

    found: tuple[Found, ...]
    considered: int
    bound: int | None = None
    origin: Origin | None = None


@dataclass(slots=True)
class _Kept:
    """The candidates that no other beats so far."""

    scorer: Scorer
    candidates: list[Candidate] = field(default_factory=list)

    def visit(self, found: Candidate, change: Picks) -> None:
        """Keep the candidate after the change unless another is at least as good in everything.
        Its RAM is planned only if it could be better in something."""
        least = (self.scorer.least_ram(found, change), *found.cheap_after(change))
        if not self._is_covered(least):
            self.keep(found.after(change))

    def keep(self, candidate: Candidate) -> None:
        """Keep the candidate unless another is at least as good in everything, or there have been
        too many to plan one more."""
        if len(self.scorer.rams) >= PLANS and not self.scorer.is_planned(candidate):
            return
        mine = self._axes(candidate)
        if not self._is_covered(mine):
            self.candidates = [c for c in self.candidates if not _covers(mine, self._axes(c))]
            self.candidates.append(candidate)

    def prefer(self, candidate: Candidate) -> None:
        """Keep the candidate instead of one that costs the same."""
        mine = self._axes(candidate)
        self.candidates = [c for c in self.candidates if self._axes(c) != mine]
        self.keep(candidate)

    def _is_covered(self, axes: tuple[int, ...]) -> bool:
        return any(_covers(self._axes(one), axes) for one in self.candidates)

    def _axes(self, candidate: Candidate) -> tuple[int, int, int]:
        return self.scorer.ram(candidate).peak, *candidate.cheap


def _covers(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def explore(partition: Partition, cpu: Cpu, ram_of: RamOf) -> Front:
    """The front of all candidates that the searches for each goal compare, and of divisions into
    functions with rows."""
    feeding.check(partition)
    found = space(partition, cpu, prefers_shared=False)
    scorer = Scorer(found, ram_of)
    kept = _Kept(scorer)
    divisions = pieces(found, cpu)
    forced = forced_picks(divisions) if partition.fed else ()
    for division in divisions.front():
        kept.keep(Candidate(division.picks))
    starts = {g: start.best(divisions, scorer, g) if g in ROLLS else {} for g in GOALS}
    searches = [
        Search(found, scorer, goal, kept.visit, PLANS, start=beginning, forced=forced)
        for goal, beginning in starts.items()
    ]
    best = {search.goal: search.best() for search in searches}
    considered = sum(search.considered for search in searches)
    for candidate in best.values():
        kept.prefer(candidate)
    entries = [_found(found, one, scorer, best, considered) for one in kept.candidates]
    entries.sort(key=lambda one: (one.score.cycles, one.ram.peak, one.score.flash))
    return Front(tuple(entries), considered)


def _found(
    found: Space,
    candidate: Candidate,
    scorer: Scorer,
    best: Mapping[str, Candidate],
    considered: int,
) -> Found:
    mine = (scorer.ram(candidate), candidate.score)
    goals = tuple(goal for goal, one in best.items() if (scorer.ram(one), one.score) == mine)
    goal = goals[0] if goals else FROM_FILE
    schedule = made(found, candidate, goal=goal, considered=considered)
    return Found(schedule, scorer.ram(candidate), goals)


def write(front: Front, folder: Path) -> None:
    """Write ``schedule-1.json`` and so on, numbered as in the front, instead of earlier ones.

    Raises ProjectError if the folder has other files, or if it cannot be written."""
    others = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
    if foreign := [name for name in others if not _NAME.fullmatch(name)]:
        raise ProjectError(
            f"has {foreign[0]!r}, which is no schedule",
            where=str(folder),
            hint="give a new folder",
        )
    texts = [dumps(record(one.schedule)).encode() for one in front.found]
    names = [f"schedule-{number + 1}.json" for number in range(len(texts))]
    FileTree(dict(zip(names, texts, strict=True))).write_to(folder, force=True)
