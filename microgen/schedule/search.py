"""The search: from the fastest option of each node, change after change while the goal gets better.
A goal that weighs RAM against other things is searched from the least RAM, too: several layers may
need the same peak, so that no single change lowers it.

It is deterministic, and its budgets are counts, so the result is the same on every machine. A
change is another option for one node, another for all nodes that have the same implementation and
form, or a pattern instead of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from microgen.schedule.goals import GOALS, KEEPS_LAYERS, WEIGHS_RAM, Key, improved
from microgen.schedule.options import NOISE, Option, Space
from microgen.schedule.state import Candidate, Picks, Scorer

ROUNDS = 8  # through all changes
PLANS = 48  # candidates that are lowered and planned, from each start

Change = Callable[[Candidate], Picks]


@dataclass(slots=True)
class Search:
    """One search for the best candidate. ``visit`` is called with each that is compared, as a
    candidate and what would change."""

    space: Space
    scorer: Scorer
    goal: str
    visit: Callable[[Candidate, Picks], None] | None = None
    plans: int = PLANS
    considered: int = 1

    def best(self) -> Candidate:
        """The best candidate found."""
        found = self._from(fastest(self.space), self.goal)
        if self.goal not in WEIGHS_RAM:
            return found
        least = self._from(leanest(self.space), "ram")
        return min(found, self._from(least, self.goal), key=self._key)

    def _from(self, found: Candidate, goal: str) -> Candidate:
        """The candidate that changes of another lead to."""
        every = list(changes(self.space, joins=self.goal not in KEEPS_LAYERS))
        most = len(self.scorer.rams) + self.plans
        for _ in range(ROUNDS):
            before = found
            for change in every:
                if len(self.scorer.rams) < most:
                    found = self._better(found, change, goal)
            if found is before:
                break
        return found

    def _better(self, found: Candidate, change: Change, goal: str) -> Candidate:
        """The candidate after the change if that is better, otherwise the candidate."""
        changed = change(found)
        if not changed:
            return found
        self.considered += 1
        if self.visit:
            self.visit(found, changed)
        return improved(goal, self.scorer, found, changed)

    def _key(self, candidate: Candidate) -> Key:
        return GOALS[self.goal](self.scorer.ram(candidate).peak, *candidate.cheap)


def fastest(space: Space) -> Candidate:
    """The fastest option of each node by itself."""
    return Candidate({name: _fastest(options) for name, options in space.single.items()})


def leanest(space: Space) -> Candidate:
    """The fastest option of each node that has the least scratch memory."""
    return Candidate(
        {
            name: min(o, key=lambda one: (one.scratch, one.cycles))
            for name, o in space.single.items()
        }
    )


def _fastest(options: Sequence[Option]) -> Option:
    """The first in the registry's order that is as fast as any, as far as estimates can tell."""
    least = min(option.cycles for option in options)
    return next(option for option in options if option.cycles * (1 - NOISE) <= least)


def changes(space: Space, *, joins: bool) -> Iterator[Change]:
    """All changes, the larger ones first, and patterns only if it ``joins`` nodes. Each is a
    function of the candidate that it changes; the result is empty if it does not apply to it."""
    kinds = list(dict.fromkeys(_kind(o) for options in space.single.values() for o in options))
    for old in kinds:
        yield from (_Regroup(space, old, new) for new in kinds if new != old)
    yield from (_Join(space, option) for option in space.joint if joins)
    for name, options in space.single.items():
        if len(options) > 1:
            yield from (_Replace(name, option) for option in options)


@dataclass(frozen=True, slots=True)
class _Regroup:
    """All nodes of one implementation and form, as far as they can, have another."""

    space: Space
    old: tuple[str, bool]
    new: tuple[str, bool]

    def __call__(self, found: Candidate) -> Picks:
        members = [o for o in found.options if _kind(o) == self.old and not o.is_pattern]
        if len(members) < 2:
            return {}
        return {
            member.result: option
            for member in members
            for option in self.space.single[member.result]
            if _kind(option) == self.new
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
