"""The choice of a schedule by the goal of ``--optimize``."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from microgen.partition import Partition
from microgen.schedule.division import Pieces, pieces
from microgen.schedule.goals import ROLLS, flash_power
from microgen.schedule.options import Option, Space, space
from microgen.schedule.search import Search
from microgen.schedule.state import Candidate, RamOf, Scorer, scheduled
from microgen.schedule.types import Schedule
from microgen.target.cpu import Cpu


def choose(
    partition: Partition, cpu: Cpu, goal: str, ram_of: RamOf, limit: int = sys.maxsize
) -> Schedule:
    """The best schedule that the search finds. ``ram_of`` lowers and plans regions. If it needs
    more than ``limit`` bytes of RAM, it is the fastest division that does not."""
    found = space(partition, cpu, prefers_shared=goal == "flash")
    scorer = Scorer(found, ram_of)
    start = pieces(found, cpu).least().picks if goal in ROLLS else {}
    search = Search(found, scorer, goal, power=flash_power(cpu), start=start)
    best = search.best()
    if limit < sys.maxsize and scorer.ram(best).peak > limit:
        best = _smaller(best, pieces(found, cpu), scorer, limit)
    return made(found, best, scorer, goal=goal, considered=search.considered)


def _smaller(found: Candidate, divided: Pieces, scorer: Scorer, limit: int) -> Candidate:
    """The fastest division whose plan fits into ``limit`` bytes. If there is none, what needs the
    fewest bytes, so that users are told how many are missing."""
    for division in divided.front():
        candidate = Candidate(division.picks)
        if division.nbytes <= limit and scorer.ram(candidate).peak <= limit:
            return candidate
    least = Candidate(divided.least().picks)
    return min((found, least), key=lambda one: scorer.ram(one).peak)


def made(
    found: Space, candidate: Candidate, scorer: Scorer, *, goal: str, considered: int
) -> Schedule:
    """The candidate as a schedule."""
    parts = scheduled(found, candidate.picks, reasons(found, candidate, goal))
    return Schedule(parts, goal, candidate.score, considered, scorer.bound)


def reasons(found: Space, candidate: Candidate, goal: str) -> Mapping[str, str]:
    """Why each option was picked, by its result."""
    joint: dict[str, list[Option]] = {}
    for option in found.joint:
        joint.setdefault(option.result, []).append(option)
    return {
        option.result: _reason(
            option, [*found.single[option.result], *joint.get(option.result, ())], goal
        )
        for option in candidate.options
    }


def _reason(option: Option, every: list[Option], goal: str) -> str:
    others = [other for other in every if other is not option]
    if option.cost is None:
        return "the first implementation that fits; its cost is not measured for this core"
    if not others:
        return f"the only implementation that fits: {_numbers(option)}"
    fastest = sorted(others, key=lambda other: other.cycles)
    compared = "; ".join(f"{_title(o)} {_numbers(o)}" for o in fastest[:3])
    return f"--optimize {goal}: {_title(option)} {_numbers(option)}; {compared}"


def _title(option: Option) -> str:
    own = option.kernel.symbol
    return f"{own} out of line" if option.is_shared else own


def _numbers(option: Option) -> str:
    cost = option.cost
    assert cost is not None, "options are compared if they are measured"
    code = f"{cost.code_bytes:,}"
    code += f" + {cost.common_bytes:,}" if cost.common_bytes else ""
    ram = f", {option.scratch:,} B of scratch" if option.scratch else ""
    return f"{cost.cycles:,} cycles, {code} B of code{ram}"
