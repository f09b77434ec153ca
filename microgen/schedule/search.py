"""The search: from fast options of each node, change after change while the goal gets better.

It is deterministic, and its budgets are counts, so the result is the same on every machine. A
change is another option for one node, another for all nodes that have the same implementation and
form, or a pattern instead of its nodes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from microgen.schedule.goals import KEEPS_LAYERS, LIMITS_RAM, improved
from microgen.schedule.options import NOISE, Option, Space
from microgen.schedule.state import Candidate, Picks, Scorer

ROUNDS = 8  # through all changes
PARTS = (0.8, 0.6, 0.4)  # of the nodes of a kernel that get its other form
PLANS = 48  # candidates of a search that are lowered and planned

Change = Callable[[Candidate], Picks]


@dataclass(slots=True)
class Search:
    """One search for the best candidate. ``visit`` is called with each that is compared, as a
    candidate and what would change. ``limit`` is that of RAM in bytes, ``power`` that of flash.
    ``gathers`` are those of ``changes``. ``start`` are picks to begin with, if they are better than
    the usual ones."""

    space: Space
    scorer: Scorer
    goal: str
    visit: Callable[[Candidate, Picks], None] | None = None
    plans: int = PLANS
    considered: int = 1
    limit: int = sys.maxsize
    power: int = 1
    gathers: Mapping[str, Sequence[Option]] = field(default_factory=dict)
    start: Picks = field(default_factory=dict)

    def best(self) -> Candidate:
        """The best candidate found."""
        found = self._better(self._first(), lambda _: self.start)
        joins = self.goal not in KEEPS_LAYERS
        every = list(changes(self.space, joins=joins, gathers=self.gathers))
        for _ in range(ROUNDS):
            before = found
            for change in every:
                found = self._better(found, change)
            if found is before:
                break
        return found

    def _first(self) -> Candidate:
        """The fastest option of each node; if RAM is limited, the fastest whose scratch fits."""
        if self.goal not in LIMITS_RAM:
            return fastest(self.space)
        lean = Candidate({name: _leanest(options) for name, options in self.space.single.items()})
        ram = self.scorer.ram(lean)
        self.limit = ram.peak
        fits = {
            name: _within(options, lean.picks[name].scratch + ram.free.get(name, 0))
            for name, options in self.space.single.items()
        }
        if self.power > 1:
            self.gathers = fits
        return Candidate({name: _fastest(options) for name, options in fits.items()})

    def _better(self, found: Candidate, change: Change) -> Candidate:
        """The candidate after the change if that is better, otherwise the candidate."""
        changed = {} if len(self.scorer.rams) >= self.plans else change(found)
        if not changed:
            return found
        self.considered += 1
        if self.visit:
            self.visit(found, changed)
        return improved(self.goal, self.scorer, found, changed, self.limit, self.power)


def fastest(space: Space) -> Candidate:
    """The fastest option of each node by itself."""
    return Candidate({name: _fastest(options) for name, options in space.single.items()})


def _fastest(options: Sequence[Option]) -> Option:
    """The first in the registry's order that is as fast as any, as far as estimates can tell."""
    least = min(option.cycles for option in options)
    return next(option for option in options if option.cycles * (1 - NOISE) <= least)


def _leanest(options: Sequence[Option]) -> Option:
    """The fastest of those with the least scratch."""
    least = min(option.scratch for option in options)
    return _fastest([option for option in options if option.scratch == least])


def _within(options: Sequence[Option], room: int) -> list[Option]:
    """The options whose scratch fits. One that works in place gives up a buffer."""
    return [o for o in options if o.scratch <= room + max(0, o.shared_bytes)]


def changes(
    space: Space, *, joins: bool, gathers: Mapping[str, Sequence[Option]]
) -> Iterator[Change]:
    """All changes, the larger ones first, and patterns only if it ``joins`` nodes. Each is a
    function of the candidate that it changes; the result is empty if it does not apply to it.
    ``gathers`` are options of which all nodes may have the same one out of line."""
    kinds = list(dict.fromkeys(_kind(o) for options in space.single.values() for o in options))
    yield from (_Gather(gathers, new) for new in kinds if gathers and new[1])
    for old in kinds:
        yield from (_Regroup(space, old, new) for new in kinds if new != old)
        yield from (_Regroup(space, old, (old[0], not old[1]), part) for part in PARTS)
    yield from (_Join(space, option) for option in space.joint if joins)
    for name, options in space.single.items():
        if len(options) > 1:
            yield from (_Replace(name, option) for option in options)


@dataclass(frozen=True, slots=True)
class _Regroup:
    """All nodes of one implementation and form, as far as they can, have another; or a part of
    them: those that get slower by the fewest cycles."""

    space: Space
    old: tuple[str, bool]
    new: tuple[str, bool]
    part: float = 1.0

    def __call__(self, found: Candidate) -> Picks:
        members = [o for o in found.options if _kind(o) == self.old and not o.is_pattern]
        if len(members) < 2:
            return {}
        pairs = [
            (member, option)
            for member in members
            for option in self.space.single[member.result]
            if _kind(option) == self.new
        ]
        pairs.sort(key=lambda pair: pair[1].cycles - pair[0].cycles)
        return {member.result: option for member, option in pairs[: round(len(pairs) * self.part)]}


@dataclass(frozen=True, slots=True)
class _Gather:
    """All nodes that have an option of one implementation and form get it, whatever they have."""

    options: Mapping[str, Sequence[Option]]
    new: tuple[str, bool]

    def __call__(self, found: Candidate) -> Picks:
        return {
            name: option
            for name, options in self.options.items()
            for option in options
            if _kind(option) == self.new and not found.picks[name].is_pattern
        }


@dataclass(frozen=True, slots=True)
class _Join:
    """Several nodes get one option for all, or, if they have it, each its fastest again."""

    space: Space
    option: Option

    def __call__(self, found: Candidate) -> Picks:
        names = [node.outputs[0] for node in self.option.nodes]
        if all(found.picks[name] is self.option for name in names):
            return {name: _fastest(self.space.single[name]) for name in names}
        if any(found.picks[name].is_pattern for name in names):
            return {}
        return dict.fromkeys(names, self.option)


@dataclass(frozen=True, slots=True)
class _Replace:
    """One node gets another option."""

    name: str
    option: Option

    def __call__(self, found: Candidate) -> Picks:
        picked = found.picks[self.name]
        return {} if picked is self.option or picked.is_pattern else {self.name: self.option}


def _kind(option: Option) -> tuple[str, bool]:
    return option.kernel.symbol, option.is_shared
