"""Branch and bound over the offsets of blocks, for one choice of in-place pairs.

Blocks are placed from the bottom up. In an optimal layout with the least sum of offsets, every
block rests on offset 0 or on a neighbour below it. So its offset follows from the blocks placed
before it, and the search is over orders of ascending offset. Three rules cut it:

- the load of a half step: blocks that are live there and are not placed yet must be stacked above
  the lowest place that any of them can take;
- no gap that a whole block fits into: if the next offset is at or above the place where some
  waiting block could have ended, that block could have been placed there first (the "active
  schedules" of Giffler and Thompson, 1960);
- a waiting block whose lowest place is already too high.

Blocks with lags may lie above others whose offsets are not less. Then there are layouts that no
order of ascending offsets makes, and a complete search does not prove an optimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from microgen.base.formats.c_layout import aligned
from microgen.planner.layout import Problem
from microgen.planner.lifetimes import Lifetime


@dataclass(slots=True)
class NodeBudget:
    """The nodes that searches may still visit: a count, not a clock, so it is equal everywhere."""

    nodes: int

    def spend(self) -> bool:
        """Take one node; False if none is left."""
        self.nodes -= 1
        return self.nodes >= 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best offsets of the searched blocks below the ceiling, if any, and whether the search
    was complete."""

    offsets: dict[int, int] | None
    exhausted: bool


@dataclass(frozen=True, slots=True)
class _Clique:
    """Blocks that are live at one half step, with their sizes there, rounded up. ``slack`` is the
    most that rounding can have added to the topmost one."""

    sizes: dict[int, int]
    slack: int


class PlacementSearch:
    """A depth-first search that places ``blocks`` (indices) of a problem."""

    def __init__(self, problem: Problem, blocks: Iterable[int], ceiling: int) -> None:
        self._problem = problem
        # A dictionary keeps the order, so the search is the same on every machine.
        self._waiting = dict.fromkeys(sorted(blocks))
        self._cliques = _cliques(problem, self._waiting)
        self._floor = dict.fromkeys(self._waiting, 0)  # the lowest place of each waiting block
        # Block, offset, earlier floors of others.
        self._placed: list[tuple[int, int, list[tuple[int, int]]]] = []
        self._ceiling = ceiling  # only layouts below it matter
        self._best: dict[int, int] | None = None

    def run(self, goal: int, budget: NodeBudget) -> SearchResult:
        """Search until a layout needs ``goal`` bytes, nothing is left, or the budget is spent."""
        if not self._waiting:
            return SearchResult({}, exhausted=True)
        stack = [self._candidates()]
        while stack:
            if not stack[-1]:
                stack.pop()
                self._take_back()
            elif not budget.spend():
                return SearchResult(self._best, exhausted=False)
            else:
                self._place(stack[-1].pop())
                stack.append(self._candidates())
                if self._best is not None and self._ceiling <= goal:
                    break
        return SearchResult(self._best, exhausted=True)

    def _place(self, i: int) -> None:
        offset = self._floor[i]
        undo = []
        for j, clearance in self._problem.clearance[i].items():
            if j in self._waiting and self._floor[j] < offset + clearance:
                undo.append((j, self._floor[j]))
                self._floor[j] = offset + clearance
        del self._waiting[i]
        self._placed.append((i, offset, undo))
        if not self._waiting:
            self._record()

    def _take_back(self) -> None:
        if self._placed:
            i, _, undo = self._placed.pop()
            self._waiting[i] = None
            for j, floor in undo:
                self._floor[j] = floor

    def _record(self) -> None:
        ends = (offset + self._problem.blocks[i].nbytes for i, offset, _ in self._placed)
        peak = max(ends)
        if peak < self._ceiling:
            self._ceiling = peak
            self._best = {i: offset for i, offset, _ in self._placed}

    def _candidates(self) -> list[int]:
        """Waiting blocks that may come next, the most promising last. Empty if no layout that
        continues the placed blocks can be better."""
        last = (self._placed[-1][1], self._placed[-1][0]) if self._placed else (0, -1)
        if not self._waiting or self._is_hopeless(last[0]):
            return []
        floor, blocks, unit = self._floor, self._problem.blocks, self._problem.alignment
        # No gap that a whole block fits into: it could have been placed there first.
        earliest_end = min(floor[i] + aligned(blocks[i].nbytes, unit) for i in self._waiting)
        # Offsets ascend, and at equal offsets the indices do, so that each layout is tried once.
        fit = [i for i in self._waiting if last < (floor[i], i) and floor[i] < earliest_end]
        # `run` pops from the end: the lowest place, then the most bytes times half steps.
        return sorted(fit, key=lambda i: (-floor[i], blocks[i].nbytes * blocks[i].steps, i))

    def _is_hopeless(self, level: int) -> bool:
        floor, blocks, ceiling = self._floor, self._problem.blocks, self._ceiling
        # A waiting block whose lowest place is already too high.
        if any(max(level, floor[i]) + blocks[i].nbytes >= ceiling for i in self._waiting):
            return True
        # The load of a half step.
        return any(self._needs(clique, level) >= ceiling for clique in self._cliques)

    def _needs(self, clique: _Clique, level: int) -> int:
        """A lower bound of the peak from this half step, given the placed blocks."""
        waiting = [i for i in clique.sizes if i in self._waiting]
        if not waiting:
            return 0
        # The waiting blocks must be stacked above the lowest place that any of them can take.
        start = max(level, min(self._floor[i] for i in waiting))
        return start + sum(clique.sizes[i] for i in waiting) - clique.slack


def _cliques(problem: Problem, among: Iterable[int]) -> list[_Clique]:
    """The half steps at which some block is born; all others hold subsets of these."""
    kept: list[_Clique] = []
    for live in _live_at_births(problem, among):
        clique = _clique(live, problem.alignment)
        if kept and _covers(clique, kept[-1]):
            kept.pop()
        if not kept or not _covers(kept[-1], clique):
            kept.append(clique)
    return kept


def _live_at_births(problem: Problem, among: Iterable[int]) -> Iterator[dict[int, int]]:
    """For each half step at which some block is born, the blocks live there, with their bytes."""
    born = sorted(
        ((m, i) for i in among for m in problem.blocks[i].members), key=lambda item: item[0].first
    )
    live: list[tuple[Lifetime, int]] = []
    for time, group in groupby(born, key=lambda item: item[0].first):
        live = [*(item for item in live if item[0].last >= time), *group]
        yield {i: m.nbytes for m, i in live}


def _clique(live: Mapping[int, int], alignment: int) -> _Clique:
    rounded = {i: aligned(nbytes, alignment) for i, nbytes in live.items()}
    return _Clique(rounded, max((rounded[i] - live[i] for i in live), default=0))


def _covers(other: _Clique, clique: _Clique) -> bool:
    """Whether ``other`` implies everything that ``clique`` implies."""
    return other.slack <= clique.slack and all(
        other.sizes.get(i, -1) >= nbytes for i, nbytes in clique.sizes.items()
    )
