"""Two cheap steps before a search: leave out blocks that always fit, and repair an order.

Leaving out follows the argument about "low degree" vertices in graph colouring: a block whose
neighbours cannot cover every place below the ceiling may be placed last, wherever they are.
Repairing ("squeaky wheel optimization", Joslin and Clements, 1999) places blocks in turn, moves the
block that ends highest towards the front, and tries again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from microgen.planner.greedy import by_size
from microgen.planner.layout import Problem, lowest, lowest_outside

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
    """The best offsets found from a few starting orders; stops when the peak is ``goal``, the
    ceiling for which the blocks were split."""
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
    turns = _Turns.of(problem, order)
    best, least = turns.offsets.copy(), turns.peak
    for _ in range(min(ROUNDS, WORK // (edges + 1))):
        # Easy blocks end at the goal or below it wherever the others are, so they decide no round.
        if least <= goal or not turns.promote_highest():
            break
        if turns.peak < least:
            best, least = turns.offsets.copy(), turns.peak
    placed = {i: best[i] for i in order}
    for i in easy:
        placed[i] = lowest(i, problem, placed)
    return [placed[i] for i in range(len(problem.blocks))]


@dataclass(slots=True)
class _Turns:
    """Blocks in the ``order`` in which each takes the lowest free place, with their ends in that
    order. ``offsets`` and ``turn`` are by a block's index; a block of no turn comes last."""

    problem: Problem
    order: list[int]
    offsets: list[int]
    ends: list[int]
    turn: list[int]

    @classmethod
    def of(cls, problem: Problem, order: Sequence[int]) -> _Turns:
        """All blocks of an order in their places."""
        count = len(problem.blocks)
        made = cls(problem, list(order), [0] * count, [0] * len(order), [count] * count)
        for turn, i in enumerate(order):
            made.turn[i] = turn
            made._place(turn)
        return made

    @property
    def peak(self) -> int:
        """The end of the last block."""
        return max(self.ends, default=0)

    def promote_highest(self) -> bool:
        """Move the block that ends highest half the way to the front. False if it is there
        already."""
        before = self.ends.index(self.peak) if self.ends else 0
        if before == 0:
            return False
        turn = before // 2
        for each in (self.order, self.ends):
            each.insert(turn, each.pop(before))
        for place in range(turn, before + 1):
            self.turn[self.order[place]] = place
        self._settle(turn, before)
        return True

    def _settle(self, promoted: int, before: int) -> None:
        """Place the promoted block, and all blocks whose places depend on it."""
        turns, clearance = [promoted], self.problem.clearance
        while turns:
            turn = heappop(turns)
            i = self.order[turn]
            has_moved = self._place(turn)
            # The promoted block is new to all blocks that it was moved past, even at its old place.
            last = len(self.order) if has_moved else before if turn == promoted else turn
            for place in [self.turn[j] for j in clearance[i]]:
                if turn < place <= last and place not in turns:
                    heappush(turns, place)

    def _place(self, turn: int) -> bool:
        """Place the block of a turn above or below those of earlier turns; whether it moves."""
        i = self.order[turn]
        offsets, turns, clearance = self.offsets, self.turn, self.problem.clearance
        near = clearance[i].items()
        taken = [
            (offsets[j] - below, offsets[j] + clearance[j][i])
            for j, below in near
            if turns[j] < turn
        ]
        offset, old = lowest_outside(taken), offsets[i]
        offsets[i], self.ends[turn] = offset, offset + self.problem.sizes[i]
        return offset != old


def _spare_places(problem: Problem, i: int, ceiling: int) -> int:
    """The number of aligned offsets at which block i ends below the ceiling, minus the offsets that
    its neighbours rule out in the worst case. If it is positive, the block always fits."""
    clearance, unit = problem.clearance, problem.alignment
    places = (ceiling - problem.sizes[i]) // unit + 1
    # The sum of ``_ruled_out``, which would be called for each pair of neighbours.
    near = clearance[i].items()
    return places + len(near) - sum((nbytes + clearance[j][i]) // unit for j, nbytes in near)


def _ruled_out(problem: Problem, i: int, j: int) -> int:
    # Offsets of i are ruled out strictly between j's offset minus i's clearance below j, and j's
    # end.
    return (problem.clearance[i][j] + problem.clearance[j][i]) // problem.alignment - 1
