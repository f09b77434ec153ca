"""Several pools: each block goes to the first pool, in declaration order, where it fits.

Blocks are taken by size, as in TVM's greedy planner. When each block has its pool, the chosen
planner lays out each pool on its own. If the next block finds no room in a pool, the blocks of that
pool are tried in other orders before the block spills.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from microgen.planner import sweep
from microgen.planner.greedy import by_size, on_demand
from microgen.planner.layout import Layout, Problem, end, lowest, make_problem
from microgen.planner.lifetimes import Lifetime, Liveness, all_merged, load
from microgen.planner.program.plan import Pool
from microgen.planner.repair import find_core, repaired

Planner = Callable[[Liveness, int], Layout]
Allowed = Mapping[str, tuple[int, ...]]

REPAIRS = 20  # the most, for each order of blocks


class NoRoomError(Exception):
    """``buffer`` fits no pool. ``lacks`` has the bytes missing in each pool that it may use."""

    def __init__(self, buffer: str, nbytes: int, lacks: tuple[tuple[Pool, int], ...]) -> None:
        super().__init__(buffer, nbytes, lacks)
        self.buffer = buffer
        self.nbytes = nbytes
        self.lacks = lacks


def place(
    liveness: Liveness, pools: Sequence[Pool], allowed: Allowed, planner: Planner
) -> tuple[Layout, ...]:
    """A layout for each pool. ``allowed`` are the numbers of the pools that a buffer may lie in.

    Raises NoRoomError.
    """
    if len(pools) == 1:
        return (_only(liveness, pools[0], allowed, planner),)
    shares = planner is not on_demand
    # The buffers of a pair are in one pool, so they must be allowed in the same ones.
    merged = tuple(p for p in all_merged(liveness) if allowed[p.input] == allowed[p.output])
    liveness = replace(liveness, pairs=merged if shares else ())
    seen = liveness if shares else _always(liveness)
    if sweep.is_crowded(seen):
        return _in_time_order(sweep.within(seen), pools, allowed)
    parts = _filled(seen, pools, allowed, shares)
    return tuple(_packed(part, liveness, planner) for part in parts)


def _always(liveness: Liveness) -> Liveness:
    """The liveness as if every buffer were always live, so that nothing shares memory."""
    end = max((b.last for b in liveness.buffers), default=0)
    return Liveness(tuple(replace(b, first=0, last=end) for b in liveness.buffers), ())


def _in_time_order(
    liveness: Liveness, pools: Sequence[Pool], allowed: Allowed
) -> tuple[Layout, ...]:
    """The layouts in the order of time, if too much is live at once to place blocks by size."""
    heaps = [sweep.Heap(pool.alignment) for pool in pools]

    def choose(b: Lifetime) -> sweep.Heap:
        lacks = []
        for number in allowed[b.name]:
            excess = _excess(pools[number], heaps[number].where(b.nbytes) + b.nbytes)
            if excess <= 0:
                return heaps[number]
            lacks.append((pools[number], excess))
        raise NoRoomError(b.name, b.nbytes, tuple(lacks))

    return sweep.layouts(liveness, liveness.pairs, heaps, choose)


def _only(liveness: Liveness, pool: Pool, allowed: Allowed, planner: Planner) -> Layout:
    """The layout of the only pool: the planner gets the whole liveness."""
    layout = planner(liveness, pool.alignment)
    ends = {b: layout.offsets[b.name] + b.nbytes for b in liveness.buffers}
    # The highest first, so that the error names the buffer that lacks the most.
    for b in sorted(ends, key=lambda b: -ends[b]):
        if not allowed[b.name]:
            raise NoRoomError(b.name, b.nbytes, ())
        if _excess(pool, ends[b]) > 0:
            raise NoRoomError(b.name, b.nbytes, ((pool, _excess(pool, ends[b])),))
    return layout


@dataclass(slots=True)
class _Part:
    """A pool while it fills: offsets of the blocks in it, by their index in ``problem``, which has
    all blocks of the program."""

    pool: Pool
    problem: Problem
    placed: dict[int, int]
    repairs: int

    def add(self, i: int) -> int:
        """Place block i; returns 0, or the number of bytes that are missing."""
        offset = lowest(i, self.problem, self.placed)
        excess = _excess(self.pool, offset + self.problem.blocks[i].nbytes)
        if excess <= 0:
            self.placed[i] = offset
            return 0
        return 0 if self._repair(i) else excess

    def _repair(self, i: int) -> bool:
        """Try other orders of the blocks here and block i; whether one of them fits."""
        chosen = sorted({*self.placed, i})
        capacity = self.pool.capacity or 0
        members = (m for j in chosen for m in self.problem.blocks[j].members)
        # No order helps if more is live at once than the pool holds.
        if not self.repairs or load(members) > capacity:
            return False
        self.repairs -= 1
        problem = _restricted(self.problem, chosen)
        offsets = repaired(problem, find_core(problem, capacity), capacity)
        if problem.peak(offsets) > capacity:
            return False
        self.placed = dict(zip(chosen, offsets, strict=True))
        return True


def _filled(
    liveness: Liveness, pools: Sequence[Pool], allowed: Allowed, shares: bool
) -> list[_Part]:
    """All blocks in pools. They are placed by size or, if one then fits nowhere, by the number of
    pools that they may use."""
    # Each pool gets a problem with its own alignment, so this one is only for the order and the
    # members of blocks.
    problem = make_problem(liveness, liveness.pairs, 1)
    # The members of a block are allowed in the same pools, see `place`.
    choices = [allowed[block.members[0].name] for block in problem.blocks]
    order = by_size(problem) if shares else list(range(len(choices)))
    try:
        return _in_order(order, choices, liveness, pools, shares)
    except NoRoomError as first:
        # Blocks with few pools first: others can still go elsewhere.
        order.sort(key=lambda i: len(choices[i]))
        try:
            return _in_order(order, choices, liveness, pools, shares)
        except NoRoomError:
            raise first from None


def _in_order(
    order: Iterable[int],
    choices: Sequence[tuple[int, ...]],
    liveness: Liveness,
    pools: Sequence[Pool],
    shares: bool,
) -> list[_Part]:
    parts = [
        # On-demand has nothing to repair, because no block shares bytes.
        _Part(pool, make_problem(liveness, liveness.pairs, pool.alignment), {}, shares * REPAIRS)
        for pool in pools
    ]
    for i in order:
        lacks = []
        for part in (parts[number] for number in choices[i]):
            excess = part.add(i)
            if not excess:
                break
            lacks.append((part.pool, excess))
        else:
            block = parts[0].problem.blocks[i]
            raise NoRoomError(block.members[0].name, block.nbytes, tuple(lacks))
    return parts


def _packed(part: _Part, whole: Liveness, planner: Planner) -> Layout:
    """The planner's own layout of a pool, unless the blocks lie lower in their present places."""
    problem = _restricted(part.problem, sorted(part.placed))
    sizes = {m.name: m.nbytes for block in problem.blocks for m in block.members}
    layout = planner(whole.only(sizes), part.pool.alignment)
    offsets = [part.placed[i] for i in sorted(part.placed)]
    if end(layout.offsets, sizes) <= problem.peak(offsets):
        return layout
    return problem.layout(offsets, "the order in which the blocks were taken")


def _restricted(problem: Problem, chosen: Sequence[int]) -> Problem:
    """The problem of some of its blocks, in the same order."""
    names = {m.name for i in chosen for m in problem.blocks[i].members}
    number = {i: n for n, i in enumerate(chosen)}
    return Problem(
        tuple(problem.blocks[i] for i in chosen),
        tuple(p for p in problem.pairs if p.input in names),
        problem.alignment,
        tuple(
            {number[j]: n for j, n in problem.clearance[i].items() if j in number} for i in chosen
        ),
    )


def _excess(pool: Pool, end: int) -> int:
    return 0 if pool.capacity is None else end - pool.capacity
