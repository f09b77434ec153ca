"""Two cheap steps before a search: leave out blocks that always fit, and repair an order.

Leaving out follows the argument about "low degree" vertices in graph colouring: a block whose
neighbours cannot cover every place below the ceiling may be placed last, wherever they are.
Repairing ("squeaky wheel optimization", Joslin and Clements, 1999) places blocks in turn, moves the
block that ends highest towards the front, and tries again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.planner.greedy import by_size
from microgen.planner.layout import Problem, lowest_fit

ROUNDS = 60  # the most, for each starting order
WORK = 100_000  # the most pairs of blocks looked at, for each starting order


@dataclass(frozen=True, slots=True)
class CriticalBlocks:
    """Indices of the blocks that need care, in size order, and of the blocks that always fit below
    the ceiling, in the order in which to place them afterwards."""

    hard: tuple[int, ...]
    easy: tuple[int, ...]


def find_core(problem: Problem, ceiling: int) -> CriticalBlocks:
    """Split the blocks; every easy one ends at or below ``ceiling`` bytes if the hard ones do."""
    order = by_size(problem)
    spare = {i: _spare_places(problem, i, ceiling) for i in order}
    todo = [i for i in order if spare[i] > 0]
    easy: dict[int, None] = {}
    while todo:
        i = todo.pop()
        # A dictionary as an ordered set.
        easy[i] = None
        for j in problem.clearance[i]:
            before = spare[j]
            # Block i is placed after j from now on, so it rules out nothing for j.
            spare[j] += _ruled_out(problem, i, j)
            # Only a block that becomes easy now is new on the list.
            if before <= 0 < spare[j]:
                todo.append(j)
    # The first block of ``easy`` fits wherever all others are, so it is placed last.
    return CriticalBlocks(tuple(i for i in order if i not in easy), tuple(reversed(easy)))


def repaired(problem: Problem, core: CriticalBlocks, goal: int) -> list[int]:
    """The best offsets found from a few starting orders; stops when the peak is ``goal``."""
    blocks = problem.blocks
    tries: list[list[int]] = []
    # By bytes, by area (bytes times half steps), by lifetime.
    for order in (
        list(core.hard),
        sorted(core.hard, key=lambda i: -blocks[i].nbytes * blocks[i].steps),
        sorted(core.hard, key=lambda i: -blocks[i].steps),
    ):
        tries.append(_repaired(problem, order, core.easy, goal))
        if problem.peak(tries[-1]) <= goal:
            break
    return min(tries, key=problem.peak)


def _repaired(problem: Problem, order: list[int], easy: Sequence[int], goal: int) -> list[int]:
    edges = sum(len(clearance) for clearance in problem.clearance)
    # Easy blocks come last: they fit below the ceiling wherever the others are.
    best = offsets = lowest_fit(problem, (*order, *easy))
    least = problem.peak(best)
    for _ in range(min(ROUNDS, WORK // (edges + 1))):
        same = _promote_highest(problem, order, offsets)
        if least <= goal or same is None:
            break
        # The blocks before the promoted one stay where they are.
        offsets = lowest_fit(problem, (*order, *easy), offsets, same)
        peak = problem.peak(offsets)
        if peak < least:
            best, least = offsets, peak
    return best


def _spare_places(problem: Problem, i: int, ceiling: int) -> int:
    """The number of aligned offsets at which block i ends below the ceiling, minus the offsets that
    its neighbours rule out in the worst case. If it is positive, the block always fits."""
    places = (ceiling - problem.blocks[i].nbytes) // problem.alignment + 1
    return places - sum(_ruled_out(problem, i, j) for j in problem.clearance[i])


def _ruled_out(problem: Problem, i: int, j: int) -> int:
    # Offsets of i are ruled out strictly between j's offset minus i's clearance below j, and j's
    # end.
    return (problem.clearance[i][j] + problem.clearance[j][i]) // problem.alignment - 1


def _promote_highest(problem: Problem, order: list[int], offsets: Sequence[int]) -> int | None:
    """Move the block that ends highest half the way to the front. The number of blocks before it;
    None if it is there already."""
    ends = problem.ends(offsets)
    place = max(range(len(order)), key=lambda p: ends[order[p]], default=0)
    if place == 0:
        return None
    order.insert(place // 2, order.pop(place))
    return place // 2
