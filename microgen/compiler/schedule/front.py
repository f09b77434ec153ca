"""The Pareto front of schedules in RAM, cycles and flash."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from microgen.base.errors import ProjectError
from microgen.base.files import FileTree
from microgen.base.manifest.schedule import FROM_FILE, FrontOrigin
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import feeding, stacks
from microgen.compiler.schedule.assembled import space
from microgen.compiler.schedule.choose import made, searching
from microgen.compiler.schedule.division import pieces
from microgen.compiler.schedule.file import dumps, record
from microgen.compiler.schedule.goals import GOALS
from microgen.compiler.schedule.options import Space
from microgen.compiler.schedule.score import Score
from microgen.compiler.schedule.sparing import sparing
from microgen.compiler.schedule.stacks import StackOf
from microgen.compiler.schedule.state import Candidate, Picks, RamOf, Schedule, Scorer
from microgen.planner.program.ram import Ram
from microgen.target.cpu import Cpu

_NAME = re.compile(r"schedule-[0-9]+\.json")
PLANS = 64  # candidates that are lowered and planned because the front may have them

_Axes = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A schedule of the front, its RAM, and the goals of ``--optimize`` that choose it or one that
    costs the same. Its RAM has static data and the stack if these are counted, which they are not
    on the host."""

    schedule: Schedule
    ram: Ram
    goals: tuple[str, ...]

    @property
    def score(self) -> Score:
        """The costs other than RAM."""
        return self.schedule.score

    @property
    def total(self) -> int | None:
        """Everything in RAM, in bytes; None if static data and the stack are not counted."""
        return self.ram.total if self.ram.stack else None

    @property
    def left_out(self) -> Mapping[str, int]:
        """The layers that external code generators compute, by their names. The
        costs of these layers are not known, so the score leaves them out."""
        regions = self.schedule.partition.regions
        external = [region for region in regions if region.codegen != BUILTIN]
        return Counter(region.codegen for region in external for _ in region.nodes)


@dataclass(frozen=True, slots=True)
class Front:
    """The front, fastest first. ``considered`` counts the schedules that were compared, ``bound``
    is the certificate: a lower bound of the RAM of all schedules of the searches. ``origin``
    has the front's model, core and options. Both are None if they are not known."""

    found: tuple[FrontPoint, ...]
    considered: int
    bound: int | None = None
    origin: FrontOrigin | None = None


@dataclass(slots=True)
class _Kept:
    """The Pareto-optimal candidates so far, with their RAM, cycles and flash. ``plans`` is the
    number of plans that may still be made."""

    scorer: Scorer
    plans: int
    candidates: list[tuple[_Axes, Candidate]] = field(default_factory=list)

    def visit(self, found: Candidate, change: Picks) -> None:
        """Keep the candidate after the change unless another is at least as good in everything."""
        least = (self.scorer.least_ram(found, change), *found.cheap_after(change))
        # Its RAM is planned only if it could be better in something.
        if not self._is_covered(least):
            self.keep(found.after(change))

    def keep(self, candidate: Candidate) -> None:
        """Keep the candidate unless another is at least as good in everything, or there have been
        too many to plan one more."""
        if not self.scorer.is_planned(candidate):
            if not self.plans:
                return
            self.plans -= 1
        mine = self._axes(candidate)
        if not self._is_covered(mine):
            others = [one for one in self.candidates if not _covers(mine, one[0])]
            self.candidates = [*others, (mine, candidate)]

    def prefer(self, candidate: Candidate) -> None:
        """Keep the candidate instead of one that costs the same. It is planned in any case."""
        self.plans += not self.scorer.is_planned(candidate)
        mine = self._axes(candidate)
        self.candidates = [one for one in self.candidates if one[0] != mine]
        self.keep(candidate)

    def _is_covered(self, axes: _Axes) -> bool:
        return any(_covers(one, axes) for one, _ in self.candidates)

    def _axes(self, candidate: Candidate) -> _Axes:
        return self.scorer.ram(candidate).arena_io, *candidate.cheap


def _covers(one: _Axes, other: _Axes) -> bool:
    return one[0] <= other[0] and one[1] <= other[1] and one[2] <= other[2]


def explore(
    partition: Partition, cpu: Cpu, ram_of: RamOf, stack_of: StackOf = stacks.unknown
) -> Front:
    """The Pareto front of all candidates that the searches for each goal compare, and of divisions
    into functions with rows. ``ram_of`` lowers and plans regions, ``stack_of`` gives the stack of
    options. With the same two functions, ``choose`` finds the same candidate for a goal."""
    feeding.check(partition)
    found = space(partition, cpu, prefers_shared=False)
    scorer = Scorer(found, ram_of, stack_of)
    divisions = pieces(found, cpu)
    kept = _Kept(scorer, PLANS)
    for division in divisions.front():
        kept.keep(Candidate(division.picks))
    searches = {
        # Each search has its own budget of plans, as if it were alone, but no plan is made twice.
        goal: searching(
            replace(scorer, plans_all=True, plans=0, rams={}), goal, divisions, kept.visit
        )
        for goal in GOALS
    }
    best = {goal: search.best() for goal, search in searches.items()}
    considered = sum(search.considered for search in searches.values())
    for goal in (goal for goal, search in searches.items() if search.is_spent):
        # It planned more candidates than ``choose`` does, so it ended earlier.
        alone = replace(scorer, plans=0, rams={}, shared={})
        best[goal] = searching(alone, goal, divisions).best()
    if not partition.fed:
        best["speed"], more = sparing(best["speed"], scorer, lambda: best["balanced"])
        considered += more
    # If several candidates cost the same, the front has the one that a goal chooses.
    for candidate in best.values():
        kept.prefer(candidate)
    entries = [_found(found, one, scorer, best, considered) for _, one in kept.candidates]
    entries.sort(key=lambda one: (one.score.cycles, one.ram.arena_io, one.score.flash))
    return Front(tuple(entries), considered)


def _found(
    found: Space,
    candidate: Candidate,
    scorer: Scorer,
    best: Mapping[str, Candidate],
    considered: int,
) -> FrontPoint:
    def cost(one: Candidate) -> tuple[int, int, Score]:
        ram = scorer.ram(one)
        return ram.arena_io, ram.least, one.score

    goals = tuple(goal for goal, one in best.items() if cost(one) == cost(candidate))
    # No search would choose it, so only a file can name it.
    goal = goals[0] if goals else FROM_FILE
    schedule = made(found, candidate, goal=goal, considered=considered)
    return FrontPoint(schedule, scorer.ram(candidate), goals)


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
