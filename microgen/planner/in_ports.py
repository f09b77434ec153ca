"""Places buffers in the caller's memory for inputs and outputs while it is free.

These bytes cost nothing, but there are few of them. So the first plan does not use them. Then
buffers of the call with the most live bytes are moved there, as long as this makes the workspace
smaller. The result is the smaller one of both plans. If they are equal, it is the plan that does
not use the caller's memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from microgen.planner import sweep
from microgen.planner.greedy import by_size, on_demand
from microgen.planner.layout import Layout, Problem, chain, end, lowest, make_problem
from microgen.planner.lifetimes import InPlacePair, Liveness, all_merged, load, loads, shortened
from microgen.planner.program.plan import Pool
from microgen.planner.spill import Planner

Names = frozenset[str]
Layouts = tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class PortPlace:
    """A port's pool: the ports in it, which begin at one place, and the other buffers that it may
    hold. The caller also provides up to ``before`` bytes in front of the ports."""

    pool: Pool
    pinned: Names
    others: Names
    before: int = 0


def place(
    liveness: Liveness,
    places: Sequence[PortPlace],
    planner: Planner,
    workspace: Callable[[Liveness], Layouts],
) -> tuple[Layouts, Layouts]:
    """The layouts that ``workspace`` plans for its buffers, and the layout of each of the
    ``places``.

    Raises the errors of ``workspace``, and NoPlaceError.
    """
    chosen = [tuple(each.pinned for each in places)]
    # On-demand shares no memory by definition. In a crowded program each move would look at too
    # many pairs of buffers.
    if not (planner is on_demand or sweep.is_crowded(liveness)):
        # Bytes in front of a port count as workspace, so using none of them may need less.
        without = [replace(each, before=0) for each in places]
        chosen += [_filled(liveness, way, chosen[0]) for way in (without, places)]
    sizes = {b.name: b.nbytes for b in liveness.buffers}

    def planned(inside: tuple[Names, ...]) -> tuple[Layouts, Layouts]:
        return workspace(_without(liveness, inside)), _layouts(liveness, places, inside)

    def needed(plan: tuple[Layouts, Layouts]) -> int:
        own, others = plan
        before = (before_ports(e, layout) for e, layout in zip(places, others, strict=True))
        # The workspace, and the bytes in front of ports, which count as workspace.
        return sum(end(layout.offsets, sizes) for layout in own) + sum(before)

    # min takes the first of equal plans, which leaves the caller's memory alone.
    return min(map(planned, dict.fromkeys(chosen)), key=needed)


def before_ports(each: PortPlace, layout: Layout) -> int:
    """The bytes of the pool in front of its ports."""
    return max(layout.offsets[name] for name in each.pinned)


def _filled(
    liveness: Liveness, places: Sequence[PortPlace], inside: tuple[Names, ...]
) -> tuple[Names, ...]:
    """The buffers in each place after all moves that help."""
    # Each move takes buffers out of the workspace, so this ends.
    while better := _moved(liveness, places, inside):
        inside = better
    return inside


class NoPlaceError(Exception):
    """The buffers of several ``ports`` that begin at one place, and are live at one time."""

    def __init__(self, ports: tuple[str, ...]) -> None:
        super().__init__(*ports)
        self.ports = ports


def _layouts(liveness: Liveness, places: Sequence[PortPlace], inside: Sequence[Names]) -> Layouts:
    layouts = []
    for each, names in zip(places, inside, strict=True):
        layout = _fitted(liveness, each, names)
        if layout is None:
            raise NoPlaceError(tuple(sorted(each.pinned)))
        layouts.append(layout)
    return tuple(layouts)


def _moved(
    liveness: Liveness, places: Sequence[PortPlace], inside: Sequence[Names]
) -> tuple[Names, ...] | None:
    """The buffers in each place after a move that helps the call with the most bytes in the
    workspace; None if there is no such move."""
    workspace = _without(liveness, inside)
    live = loads(workspace)
    # Only that call decides the size of the workspace, so other moves cannot help.
    call = max(live, key=lambda k: live[k], default=0)
    for group in _groups(workspace, call):
        for n, each in enumerate(places):
            more = inside[n] | group
            # All buffers of the group must be allowed in this place, and then fit with those that
            # are there.
            if group <= each.others and _fitted(liveness, each, more):
                return (*inside[:n], more, *inside[n + 1 :])
    return None


def _groups(rest: Liveness, call: int) -> Iterator[Names]:
    """Groups of buffers. Moving any one of them elsewhere lowers the bytes that a call needs. A
    group is a buffer that is live in the call, or a chain in which each buffer takes the place of
    the one before. The most helpful groups come first, and the smallest of equally helpful ones."""
    live = [b.name for b in rest.buffers if b.first // 2 <= call <= b.last // 2]
    sizes = {b.name: b.nbytes for b in rest.buffers}
    pairs = all_merged(rest)
    after = {pair.input: pair.output for pair in pairs}
    before = {pair.output: pair.input for pair in pairs}
    chains = (frozenset((*chain(name, before), *chain(name, after))) for name in live)
    links = (frozenset((p.input, p.output)) for p in pairs if p.call == call)
    groups = dict.fromkeys((*(frozenset((name,)) for name in live), *links, *chains))
    most = loads(rest).get(call, 0)
    left = {group: loads(_without(rest, (group,))).get(call, 0) for group in groups}
    # A group that leaves the call's load unchanged would only fill the port's memory.
    helping = [group for group in groups if left[group] < most]
    yield from sorted(helping, key=lambda group: (left[group], sum(sizes[n] for n in group)))


def _without(liveness: Liveness, groups: Iterable[Names]) -> Liveness:
    gone: Names = frozenset().union(*groups)
    return liveness.only(frozenset(b.name for b in liveness.buffers) - gone)


def _fitted(liveness: Liveness, each: PortPlace, names: Names) -> Layout | None:
    """The layout of buffers in a place, with as many pairs as are possible; None if they do not fit
    there."""
    own = liveness.only(names)
    for pairs in _choices(all_merged(own)):
        # No layout needs less than the load, and the load is cheaper to compute than the blocks.
        if load(shortened(own.buffers, pairs)) > each.pool.nbytes + each.before:
            continue
        problem = make_problem(own, pairs, each.pool.alignment)
        start, before = _pinned(problem, each.pinned)
        # The caller allows no more bytes in front of the port.
        if before > each.before:
            continue
        # The two orders of greedy.best_offsets, after the ports have been placed.
        for order in (by_size(problem), range(len(problem.blocks))):
            offsets = _placed(problem, start, order)
            if problem.peak(offsets) <= before + each.pool.nbytes:
                return problem.layout(offsets, "in the caller's memory")
    return None


def _choices(merged: tuple[InPlacePair, ...]) -> Iterator[tuple[InPlacePair, ...]]:
    """The pairs to be used, from all to none."""
    lagged = [pair for pair in merged if pair.lag]
    yield merged
    # Lags add up along a chain, so leaving out any one of them helps.
    yield from (tuple(p for p in merged if p is not one) for one in lagged)
    if len(lagged) > 1:
        yield from (tuple(p for p in merged if p is one or not p.lag) for one in lagged)
        yield tuple(pair for pair in merged if not pair.lag)
    if len(lagged) < len(merged):
        yield ()


def _placed(problem: Problem, start: Mapping[int, int], order: Iterable[int]) -> list[int]:
    """The offsets if each block without an offset in ``start`` takes the lowest place in turn."""
    offsets = dict(start)
    for i in order:
        if i not in start:
            offsets[i] = lowest(i, problem, offsets)
    return [offsets[i] for i in range(len(problem.blocks))]


def _pinned(problem: Problem, names: Names) -> tuple[dict[int, int], float]:
    """The offsets of the blocks with ports, and the offset at which all ports begin. It is infinite
    if they cannot begin at one offset."""
    starts: dict[int, int] = {}
    for i, block in enumerate(problem.blocks):
        own = {s for m, s in zip(block.members, block.starts, strict=True) if m.name in names}
        if len(own) > 1 or (own and any(j in problem.clearance[i] for j in starts)):
            return {}, math.inf
        if own:
            starts[i] = own.pop()
    before = max(starts.values(), default=0)
    return {i: before - start for i, start in starts.items()}, before
