"""The choice of a schedule by the goal of ``--optimize``."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.partition import Partition
from microgen.schedule.options import Option, Space, space
from microgen.schedule.search import Search
from microgen.schedule.state import Picks, RamOf, Scorer, distinct, scheduled, score
from microgen.schedule.types import Schedule
from microgen.target.cpu import Cpu


def choose(partition: Partition, cpu: Cpu, goal: str, ram_of: RamOf) -> Schedule:
    """The best schedule that the search finds. ``ram_of`` lowers and plans regions."""
    found = space(partition, cpu, prefers_shared=goal == "flash")
    scorer = Scorer(found, ram_of)
    search = Search(found, scorer, goal)
    picks = search.best()
    return made(found, picks, scorer, goal=goal, considered=search.considered)


def made(found: Space, picks: Picks, scorer: Scorer, *, goal: str, considered: int) -> Schedule:
    """The candidate as a schedule."""
    parts = scheduled(found, picks, reasons(found, picks, goal))
    return Schedule(parts, goal, score(picks), considered, scorer.bound)


def reasons(found: Space, picks: Picks, goal: str) -> Mapping[str, str]:
    """Why each option was picked, by its result."""
    return {option.result: _reason(option, found, goal) for option in distinct(picks)}


def _reason(option: Option, found: Space, goal: str) -> str:
    names = [node.outputs[0] for node in option.nodes]
    others = [o for o in found.single[names[-1]] if o is not option]
    others += [o for o in found.joint if o is not option and o.result == option.result]
    if option.cost is None:
        return "the first implementation that fits; its cost is not measured for this core"
    if not others:
        return f"the only implementation that fits: {_numbers(option)}"
    compared = "; ".join(f"{_title(o)} {_numbers(o)}" for o in sorted(others, key=_cycles)[:3])
    return f"--optimize {goal}: {_title(option)} {_numbers(option)}; {compared}"


def _cycles(option: Option) -> int:
    return option.cost.cycles if option.cost else 0


def _title(option: Option) -> str:
    own = option.kernel.symbol
    return f"{own} out of line" if option.is_shared else own


def _numbers(option: Option) -> str:
    cost = option.cost
    assert cost is not None, "options are compared if they are measured"
    code = f"{cost.code_bytes:,}"
    code += f" + {cost.shared_bytes:,}" if cost.shared_bytes else ""
    ram = f", {option.scratch:,} B of scratch" if option.scratch else ""
    return f"{cost.cycles:,} cycles, {code} B of code{ram}"
