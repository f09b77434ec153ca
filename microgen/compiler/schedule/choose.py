"""The choice of a schedule by the goal of ``--optimize``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from microgen.compiler.partition import Partition
from microgen.compiler.schedule import feeding, search
from microgen.compiler.schedule.assembled import space
from microgen.compiler.schedule.division import Division, Pieces, pieces
from microgen.compiler.schedule.goals import GOALS, ROLLS, Key
from microgen.compiler.schedule.options import Option, Space
from microgen.compiler.schedule.options import space as options_of
from microgen.compiler.schedule.search import ScheduleSearch, Visit
from microgen.compiler.schedule.sparing import sparing
from microgen.compiler.schedule.stacks import StackOf, unknown
from microgen.compiler.schedule.state import Candidate, Picks, RamOf, Schedule, Scorer, scheduled
from microgen.planner.program.ram import Ram
from microgen.target.cpu import Cpu

PROMISING = 4  # divisions that are lowered and planned
# The most bytes that are live during all other calls, in sixteenths of the bytes of one call. If
# bytes of inputs may hold other tensors later, there are two buffers, which leave gaps. The gaps
# are smaller if less is live.
SHARES = (15, 14, 13, 12, 10, 8)
UNMEASURED = "its cost is not measured for this core"
FIRST = f"the first implementation that fits; {UNMEASURED}"
MOST_FORCED = 8  # functions that read the input in rows; a schedule needs one of them


def choose(
    partition: Partition,
    cpu: Cpu,
    goal: str,
    ram_of: RamOf,
    limit: int = sys.maxsize,
    stack_of: StackOf = unknown,
    *,
    spares: bool = True,
) -> Schedule:
    """The best schedule that the search finds. If this needs more than ``limit`` bytes of RAM with
    its stack, the fastest division that fits. ``ram_of`` lowers and plans regions, ``stack_of`` is
    the stack of options. If it ``spares`` RAM, ``speed`` takes much more than ``balanced`` only for
    a gain: see ``sparing``."""
    found = space(partition, cpu, prefers_shared=goal == "flash")
    scorer = Scorer(found, ram_of, stack_of)
    feeding.check(partition)
    divided = pieces(found, cpu) if goal in ROLLS or partition.fed else None
    search = searching(scorer, goal, divided)
    best = search.best()
    considered = search.considered
    if goal == "speed" and spares and not partition.fed:
        best, more = sparing(best, scorer, lambda: _balanced(scorer))
        considered += more
    if limit < sys.maxsize and scorer.total(best) > limit:
        best = _smaller(best, divided or pieces(found, cpu), scorer, cpu, limit)
    return made(found, best, goal=goal, considered=considered)


def _balanced(scorer: Scorer) -> Candidate:
    return searching(replace(scorer, plans=0, rams={}), "balanced", None).best()


def searching(
    scorer: Scorer, goal: str, divided: Pieces | None, visit: Visit | None = None
) -> ScheduleSearch:
    """The search for the goal. It begins with one of the divisions if the goal has any."""
    # Without a function that reads the input in rows there is no schedule.
    fed = divided if scorer.space.partition.fed else None
    forced = forced_picks(fed) if fed else ()
    beginning = _beginning(divided, scorer, goal) if divided and goal in ROLLS else {}
    return ScheduleSearch(scorer.space, scorer, goal, visit, start=beginning, forced=forced)


def _beginning(divided: Pieces, scorer: Scorer, goal: str) -> Picks:
    """The picks of the best of the promising divisions. Each of these is planned."""

    def planned(division: Division) -> Key:
        return GOALS[goal](scorer.ram(Candidate(division.picks)).arena_io, division.cycles, 0)

    return min(_promising(divided, scorer, goal), key=planned).picks


def _promising(divided: Pieces, scorer: Scorer, goal: str) -> Iterator[Division]:
    least = divided.least()
    # Planning adds this to the bytes of a division: inputs, outputs, and gaps.
    beside = scorer.ram(Candidate(least.picks)).arena_io - least.nbytes
    # The number decides between equal keys, because divisions have no order.
    front = [
        (GOALS[goal](division.nbytes + beside, division.cycles, 0), number, division)
        for number, division in enumerate(divided.front())
    ]
    found = [division for _, _, division in sorted(front)[:PROMISING]]
    yield from found
    if not scorer.space.partition.planned:
        return
    for share in SHARES:
        tight = divided.fastest(found[0].nbytes, found[0].nbytes * share // 16)
        if tight:
            yield tight


def _smaller(found: Candidate, divided: Pieces, scorer: Scorer, cpu: Cpu, limit: int) -> Candidate:
    """The fastest division whose plan fits into ``limit`` bytes; otherwise the candidate that needs
    the fewest."""
    # The stack is not part of a division's bytes, so divisions by kernels without arrays on the
    # stack are tried, too: first with few functions that have rows, then with any.
    every = [divided, pieces(scorer.space, cpu, lean=limit)]
    fits = [one for one in (_fitting(each, scorer, limit) for each in every) if one]
    if not fits:
        every.append(pieces(scorer.space, cpu, lean=0))
        fits = [one for one in (_fitting(every[-1], scorer, limit),) if one]
    if fits:
        return min(fits, key=lambda one: one.cheap)
    # Nothing fits, so users are told how many bytes the smallest lacks.
    least = (one for each in every for one in _forms(each.least(), scorer.space))
    return min((found, *least), key=scorer.total)


def _fitting(divided: Pieces, scorer: Scorer, limit: int) -> Candidate | None:
    """The fastest division whose plan fits into ``limit`` bytes."""
    for division in divided.front():
        copying, *assembled = _forms(division, scorer.space)
        possible = [*assembled, *([copying] if division.nbytes <= limit else [])]
        for candidate in possible:
            if scorer.total(candidate) <= limit:
                return candidate
    return None


def _forms(division: Division, space: Space) -> list[Candidate]:
    """The forms of a division: it copies the parts of all concatenations, or computes them in place
    if some of the concatenations can be assembled."""
    firsts = {name: options[0] for name, options in space.single.items()}
    assembled = {name: option for name, option in firsts.items() if option.is_assembled}
    changed = [Candidate({**division.picks, **assembled})] if assembled else []
    return [Candidate(division.picks), *changed]


def forced_picks(divided: Pieces) -> Sequence[Picks]:
    """The picks of functions that read a model's input in rows, from fast ones to small ones.
    Raises UnsupportedError if there are none."""
    every = list({id(d.pieces[0]): d.pieces[0].picks for d in divided.front()}.values())
    if not every:
        raise feeding.no_function()
    # At most MOST_FORCED, spread evenly from the fastest to the smallest.
    return every[:: -(-len(every) // MOST_FORCED)]


def fastest(partition: Partition, cpu: Cpu) -> Partition:
    """The partition in which each node has its fastest kernel."""
    found = options_of(partition, cpu, prefers_shared=False)
    candidate = search.fastest(found)
    return scheduled(found, candidate.picks, reasons(found, candidate, "speed"))


@dataclass(frozen=True, slots=True)
class Offer:
    """A way to compute a model: its planned RAM with the stack reserved for its calls, and its
    cycles. ``division`` replaces the model's schedule; None for the schedule itself."""

    ram: Ram
    cycles: int
    division: tuple[Space, Candidate] | None = None

    def schedule(self, goal: str, considered: int) -> Schedule | None:
        """The division as a schedule for a goal. ``considered`` schedules were compared."""
        return made(*self.division, goal=goal, considered=considered) if self.division else None


def offers(
    partition: Partition, cpu: Cpu, ram_of: RamOf, stack_of: StackOf = unknown
) -> Iterator[Offer]:
    """The Pareto front of divisions in bytes and cycles, once with all kernels and once with
    kernels without arrays on the stack."""
    found = space(partition, cpu, prefers_shared=False)
    scorer = Scorer(found, ram_of, stack_of)
    # Kernels without arrays on the stack make a difference only if stacks are known.
    for lean in (None,) if stack_of is unknown else (None, 0):
        for division in pieces(found, cpu, lean).front():
            candidate = Candidate(division.picks)
            yield Offer(scorer.need(candidate), division.cycles, (found, candidate))


def made(found: Space, candidate: Candidate, *, goal: str, considered: int) -> Schedule:
    """The candidate as a schedule."""
    parts = scheduled(found, candidate.picks, reasons(found, candidate, goal))
    return Schedule(parts, goal, candidate.score + found.inside, considered)


def reasons(found: Space, candidate: Candidate, goal: str) -> Mapping[str, str]:
    """Why each option was picked, by its result."""
    joint: dict[str, list[Option]] = {}
    for option in found.joint:
        joint.setdefault(option.result, []).append(option)
    return {
        option.result: _reason(
            option, [*found.single[option.result], *joint.get(option.result, ())], goal
        )
        + _last(found.unmeasured.get(option.result, ()))
        for option in candidate.options
    }


def _reason(option: Option, every: list[Option], goal: str) -> str:
    others = [other for other in every if other is not option and other.cost]
    if option.is_assembled:
        compared = "".join(f"; {_title(o)} {_numbers(o)}" for o in others)
        return f"--optimize {goal}: its parts are computed in its bytes{compared}"
    if option.cost is None:
        return FIRST
    if not others:
        return f"the only implementation that fits: {_numbers(option)}"
    fastest = sorted(others, key=lambda other: other.cycles)
    compared = "; ".join(f"{_title(o)} {_numbers(o)}" for o in fastest[:3])
    return f"--optimize {goal}: {_title(option)} {_numbers(option)}; {compared}"


def _last(unmeasured: Sequence[str]) -> str:
    """The end of the reason: the kernels that also fit, but were not compared."""
    if not unmeasured:
        return ""
    whose = "its cost is" if len(unmeasured) == 1 else "their costs are"
    return f"; last, because {whose} not measured for this core: {', '.join(unmeasured)}"


def _title(option: Option) -> str:
    own = "parts in its bytes" if option.is_assembled else option.kernel.symbol
    return f"{own} out of line" if option.is_shared else own


def _numbers(option: Option) -> str:
    cost = option.cost
    assert cost is not None, "options are compared if they are measured"
    code = f"{cost.code_bytes:,}"
    code += f" + {cost.common_bytes:,}" if cost.common_bytes else ""
    ram = f", {option.scratch:,} B of scratch" if option.scratch else ""
    return f"{cost.cycles:,} cycles, {code} B of code{ram}"
