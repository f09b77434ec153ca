"""The search: from the fastest option of each node, change after change while the goal gets better.

It is deterministic, and its budgets are counts, so the result is the same on every machine. A
change is another option for one node, another for all nodes that have the same implementation and
form, or a pattern instead of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from microgen.schedule.goals import is_better
from microgen.schedule.options import Option, Space
from microgen.schedule.state import Picks, Scorer, distinct

VISITS = 100_000  # options looked at, over all candidates of a search
PLANS = 48  # candidates of a search that are lowered and planned

Change = Mapping[str, Option]  # the picks that change
Visit = Callable[[Picks], None]


@dataclass(slots=True)
class Search:
    """One search for the best candidate. ``visit`` is called with each that is compared."""

    space: Space
    scorer: Scorer
    goal: str
    visit: Visit = lambda _picks: None
    plans: int = PLANS
    considered: int = 0

    def best(self) -> Picks:
        """The best candidate found."""
        found = fastest(self.space)
        self._count(found)
        previous: Picks = {}
        while found is not previous:
            previous = found
            for change in changes(self.space):
                found = self._better(found, change)
        return found

    def _better(self, found: Picks, change: Callable[[Picks], Change]) -> Picks:
        """The candidate after the change if that is better, otherwise the candidate."""
        spent = self.considered * len(found) > VISITS or len(self.scorer.rams) >= self.plans
        changed = {} if spent else change(found)
        if not changed:
            return found
        candidate = {**found, **changed}
        self._count(candidate)
        return candidate if is_better(self.goal, self.scorer, candidate, found) else found

    def _count(self, picks: Picks) -> None:
        self.considered += 1
        self.visit(picks)


def fastest(space: Space) -> Picks:
    """The fastest option of each node by itself."""
    return {name: min(options, key=_cycles) for name, options in space.single.items()}


def _cycles(option: Option) -> tuple[int, int]:
    cost = option.cost
    return (cost.cycles, cost.code_bytes + cost.shared_bytes) if cost else (0, 0)


def changes(space: Space) -> Iterator[Callable[[Picks], Change]]:
    """All changes, the larger ones first. Each is a function of the picks that it changes; the
    result is empty if it does not apply to them."""
    kinds = list(dict.fromkeys(_kind(o) for options in space.single.values() for o in options))
    for old in kinds:
        yield from (_Regroup(space, old, new) for new in kinds if new != old)
    yield from (_Join(space, option) for option in space.joint)
    for name, options in space.single.items():
        yield from (_Replace(name, option) for option in options)


@dataclass(frozen=True, slots=True)
class _Regroup:
    """All nodes of one implementation and form, as far as they can, have another."""

    space: Space
    old: tuple[str, bool]
    new: tuple[str, bool]

    def __call__(self, picks: Picks) -> Change:
        members = [o for o in distinct(picks) if _kind(o) == self.old and not o.is_pattern]
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

    def __call__(self, picks: Picks) -> Change:
        names = [node.outputs[0] for node in self.option.nodes]
        if all(picks[name] is self.option for name in names):
            return {name: min(self.space.single[name], key=_cycles) for name in names}
        if any(picks[name].is_pattern for name in names):
            return {}
        return dict.fromkeys(names, self.option)


@dataclass(frozen=True, slots=True)
class _Replace:
    """One node gets another option."""

    name: str
    option: Option

    def __call__(self, picks: Picks) -> Change:
        picked = picks[self.name]
        return {} if picked is self.option or picked.is_pattern else {self.name: self.option}


def _kind(option: Option) -> tuple[str, bool]:
    return option.kernel.symbol, option.is_shared
