"""The least memory: cheap orders first, then branch and bound until the lower bound is reached.

If too much is live at once to look at every pair, buffers are placed in the order of time instead.

A program may run some operators in place. Sharing an address lowers the load of a step, but ties
two buffers to one offset, which can cost more than it saves. So both are tried, and the search
covers every choice of pairs that the load of each step still allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from microgen.base.formats.c_layout import aligned
from microgen.planner import sweep
from microgen.planner.greedy import best_offsets
from microgen.planner.layout import Layout, Problem, lowest_fit, make_problem
from microgen.planner.lifetimes import (
    InPlacePair,
    Lifetime,
    Liveness,
    all_merged,
    by_call,
    live_at,
    lower_bound,
    matchings,
)
from microgen.planner.repair import find_core, repaired
from microgen.planner.search import NodeBudget, PlacementSearch

WORK = 1_000_000  # buffers looked at; one node looks at all live buffers of every step
FEWEST_NODES = 50  # even if each node looks at many buffers
MOST_NODES = 10_000  # even if each node looks at few
CHOICE = 250  # cost, in nodes, of making the blocks for one choice of pairs


@dataclass(frozen=True, slots=True)
class _Incumbent:
    """The best layout so far."""

    problem: Problem
    offsets: list[int]

    @property
    def peak(self) -> int:
        return self.problem.peak(self.offsets)


def place(liveness: Liveness, alignment: int) -> Layout:
    """The best layout under a node budget; ``proof`` says how complete the search was."""
    # In a crowded program even one node would look at too many pairs.
    if sweep.is_crowded(liveness):
        return sweep.place(liveness, alignment)
    bound = lower_bound(liveness)
    nodes = _node_budget(liveness)
    best = _first(liveness, alignment, bound)
    exhausted, budget = False, NodeBudget(nodes)
    # At the bound no plan can be better, so nothing is searched.
    if best.peak > bound:
        best, exhausted = _improve(best, liveness, bound, budget)
    spent = nodes if budget.nodes <= 0 else 0
    return best.problem.layout(best.offsets, _proof(best.peak - bound, exhausted, spent))


def _node_budget(liveness: Liveness) -> int:
    """The number of nodes whose visits take about the same time for every program."""
    # The unit is nodes, not seconds: a plan has to be the same on every machine.
    lived = sum((b.last - b.first + 1) // 2 for b in liveness.buffers)
    return min(MOST_NODES, max(FEWEST_NODES, WORK // max(1, lived)))


def _proof(gap: int, exhausted: bool, nodes: int) -> str:
    if gap == 0:
        return "optimal for this schedule"
    if exhausted:
        return "optimal for this schedule: search exhausted"
    searched = f"node budget of {nodes} spent" if nodes else "all orders of offsets searched"
    return f"{searched}: at most {gap} bytes above the bound"


def _first(liveness: Liveness, alignment: int, bound: int) -> _Incumbent:
    """The layout without a search: every pair merged; if that is not enough, only some, or none."""
    merged = make_problem(liveness, all_merged(liveness), alignment)
    tries = [_Incumbent(merged, best_offsets(merged))]
    # With lags, a long chain of pairs goes down through the pool, and may need more than any call.
    some = _needed(liveness, alignment) if any(pair.lag for pair in merged.pairs) else ()
    for used in dict.fromkeys((merged.pairs, *some, ())):
        # Later attempts are for programs in which merging alone is not enough.
        if min(incumbent.peak for incumbent in tries) > bound:
            is_merged = used == merged.pairs
            problem = merged if is_merged else make_problem(liveness, used, alignment)
            tries.append(_Incumbent(problem, repaired(problem, find_core(problem, bound), bound)))
    return min(tries, key=lambda incumbent: incumbent.peak)


def _needed(
    liveness: Liveness, alignment: int
) -> tuple[tuple[InPlacePair, ...], tuple[InPlacePair, ...]]:
    """Two choices of pairs. With both, no call needs more than the most demanding call at its best.
    The first choice has lags only if they are needed for this, the second has pairs only if they
    are."""
    groups = {group[0].call: group for group in by_call(liveness.pairs)}
    live = live_at(liveness)
    needs = {
        call: [(_least(live[call], chosen, alignment), chosen) for chosen in matchings(group)]
        for call, group in groups.items()
    }
    goal = max(
        min(need for need, _ in needs.get(call, [(_least(there, (), alignment), ())]))
        for call, there in live.items()
    )
    fitting = [[chosen for need, chosen in found if need <= goal] for found in needs.values()]
    in_place = [min(found, key=lambda chosen: any(p.lag for p in chosen)) for found in fitting]
    fewest = [min(found, key=len) for found in fitting]
    return tuple(p for c in in_place for p in c), tuple(p for c in fewest for p in c)


def _improve(
    best: _Incumbent, liveness: Liveness, bound: int, budget: NodeBudget
) -> tuple[_Incumbent, bool]:
    """Search every choice of pairs; True if nothing was left out."""
    options = _options(liveness, best.peak, best.problem.alignment)
    left = prod(len(choices) for choices in options)  # choices that are left to search
    exhausted = True
    for used in _choices(options):
        if best.peak == bound or budget.nodes <= 0:
            return best, False
        # A choice may use half of the remaining budget, so that a hard one leaves some for others.
        share = NodeBudget(budget.nodes if left == 1 else budget.nodes // 2)
        before = share.nodes
        problem = make_problem(liveness, used, best.problem.alignment)
        better, finished = _search(problem, best.peak, bound, share)
        # Making the blocks took time, even if the search ends early.
        budget.nodes -= max(before - share.nodes, CHOICE)
        left -= 1
        best = better or best
        exhausted = exhausted and finished
    return best, exhausted


def _options(liveness: Liveness, peak: int, alignment: int) -> list[list[tuple[InPlacePair, ...]]]:
    """For each call with live buffers, the choices of pairs with which it needs less than
    ``peak``. If a call has no such choice, there is nothing to search."""
    groups = {group[0].call: group for group in by_call(liveness.pairs)}
    return [
        [
            chosen
            for chosen in matchings(groups.get(call, ()))
            if _least(live, chosen, alignment) < peak
        ]
        for call, live in live_at(liveness).items()
    ]


def _least(live: Sequence[Lifetime], chosen: tuple[InPlacePair, ...], alignment: int) -> int:
    """The bytes that a call needs, with all but the topmost buffer, or union of a pair, rounded
    up."""
    bytes_of = {b.name: b.nbytes for b in live}
    for pair in chosen:
        source = bytes_of[pair.input] + aligned(pair.lag, alignment)
        # The output is no buffer of its own any more, so its size is taken out.
        bytes_of[pair.input] = max(source, bytes_of.pop(pair.output))
    sizes = [nbytes for nbytes in bytes_of.values() if nbytes]
    rounded = [aligned(nbytes, alignment) for nbytes in sizes]
    # Only the topmost buffer, or union of a pair, need not be rounded up.
    slack = max((r - n for r, n in zip(rounded, sizes, strict=True)), default=0)
    return sum(rounded) - slack


def _choices(options: list[list[tuple[InPlacePair, ...]]]) -> Iterator[tuple[InPlacePair, ...]]:
    for chosen in product(*options):
        yield tuple(pair for pairs in chosen for pair in pairs)


def _search(
    problem: Problem, peak: int, bound: int, budget: NodeBudget
) -> tuple[_Incumbent | None, bool]:
    """A layout that needs less than ``peak``, if one is found; True if the search is complete."""
    core = find_core(problem, bound)
    outcome = PlacementSearch(problem, core.hard, peak).run(bound, budget)
    # With steps down, offsets do not have the order of the stack that the search assumes, so an
    # exhausted search proves nothing.
    exhausted = outcome.exhausted and not problem.has_steps_down
    if outcome.offsets is None:
        return None, exhausted
    placed = outcome.offsets
    # In the order of the offsets that were found each block takes the lowest free place, and easy
    # blocks come last.
    order = sorted(placed, key=lambda i: (placed[i], i))
    offsets = lowest_fit(problem, (*order, *core.easy))
    return _Incumbent(problem, offsets), exhausted
