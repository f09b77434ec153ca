"""The search: it begins with fast options for each node, and makes changes that improve the goal.

It is deterministic, and its budgets are counts, so the result is the same on every machine. A
change is another option for one node, another for all nodes that have the same implementation and
form, or a pattern instead of its nodes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from microgen.base.output import progress
from microgen.compiler.schedule.goals import KEEPS_LAYERS, improved
from microgen.compiler.schedule.options import Option, Space, fastest_of
from microgen.compiler.schedule.state import Candidate, Picks, Scorer

ROUNDS = 8  # through all changes
PARTS = (0.8, 0.6, 0.4)  # of the nodes of a kernel that get its other form
PLANS = 96  # candidates of a search that are planned
BOUNDS = 384  # candidates that are lowered, to be planned or for their bounds

Change = Callable[[Candidate], Picks]
Form = tuple[str, bool]  # as Option.form
Members = Mapping[str, Sequence[Option]]  # the options of one form, by node
Forms = dict[Form, dict[str, list[Option]]]
Visit = Callable[[Candidate, Picks], None]


@dataclass(slots=True)
class ScheduleSearch:
    """One search for the best candidate. ``visit`` is called for each comparison with the candidate
    and the change. The search begins with the picks of ``start`` if they are better than the
    fastest ones. If there are ``forced`` picks, the candidate has the best of them at the start,
    even if others are better. It begins with the candidate ``first`` instead if there is one, and
    takes no change to one that needs more than ``most`` bytes of workspace, inputs and outputs."""

    space: Space
    scorer: Scorer
    goal: str
    visit: Visit | None = None
    considered: int = 1
    start: Picks = field(default_factory=dict)
    forced: Sequence[Picks] = ()
    first: Candidate | None = None
    most: int = sys.maxsize

    def best(self) -> Candidate:
        """The best candidate after at most ROUNDS rounds, or when PLANS or BOUNDS are spent."""
        found = self._forced(self.first or fastest(self.space))
        found = self._better(found, lambda _: self.start)
        joins = self.goal not in KEEPS_LAYERS
        every = list(changes(self.space, joins=joins))
        for _ in range(ROUNDS):
            before = found
            for change in every:
                found = self._better(found, change)
            # The changes are the same in each round, so no further round would help.
            if found is before:
                break
        return found

    def _forced(self, first: Candidate) -> Candidate:
        """The best of the candidates with the forced picks, the first one if there are none."""
        every = [{**first.picks, **picks} for picks in self.forced]
        found = Candidate(every[0]) if every else first
        for picks in every[1:]:
            found = self._better(found, partial(_whole, picks))
        return found

    def _better(self, found: Candidate, change: Change) -> Candidate:
        """The changed candidate if it is better, otherwise the candidate."""
        changed = {} if self.is_spent else change(found)
        if not changed:
            return found
        self.considered += 1
        if self.visit:
            self.visit(found, changed)
        better = improved(self.goal, self.scorer, found, changed, self.most)
        progress.count("schedules", len(self.scorer.rams), BOUNDS)
        return better

    @property
    def is_spent(self) -> bool:
        """Whether no further candidate is compared."""
        return len(self.scorer.rams) >= BOUNDS or self.scorer.plans >= PLANS


def _whole(picks: Picks, _found: Candidate) -> Picks:
    return picks


def fastest(space: Space) -> Candidate:
    """The fastest option of each node by itself."""
    return Candidate({name: fastest_of(options) for name, options in space.single.items()})


def changes(space: Space, *, joins: bool) -> Iterator[Change]:
    """All changes, the larger ones first, and patterns only if it ``joins`` nodes. Each is a
    function of a candidate; its result is empty if the change does not apply to the candidate."""
    forms: Forms = {}
    for name, options in space.single.items():
        for option in options:
            forms.setdefault(option.form, {}).setdefault(name, []).append(option)
    yield from (partial(_gathered, own) for new, own in forms.items() if new[1])
    for old in forms:
        others = ((new, own) for new, own in forms.items() if new != old)
        yield from (partial(_regrouped, own, old) for _, own in others)
        other = forms.get((old[0], not old[1]), {})
        yield from (partial(_regrouped, other, old, part=part) for part in PARTS)
    yield from (partial(_joined, space, option) for option in space.joint if joins)
    for name, options in space.single.items():
        if len(options) > 1:
            yield from (partial(_replaced, name, option) for option in options)


def _regrouped(new: Members, old: Form, found: Candidate, *, part: float = 1.0) -> Picks:
    """Nodes of one implementation and form get another one if they have such an option. Only a
    ``part`` of them does: the nodes that get slower by the fewest cycles."""
    members = found.by_form.get(old, ())
    if len(members) < 2:
        return {}
    pairs = [(member, option) for member in members for option in new.get(member.result, ())]
    # Sorting is stable: of equal losses, the first node comes first.
    pairs.sort(key=lambda pair: pair[1].cycles - pair[0].cycles)
    return {member.result: option for member, option in pairs[: round(len(pairs) * part)]}


def _gathered(new: Members, found: Candidate) -> Picks:
    """All nodes that have an option of one implementation and form get it."""
    return {
        name: option
        for name, options in new.items()
        for option in options
        if not found.picks[name].is_pattern
    }


def _joined(space: Space, option: Option, found: Candidate) -> Picks:
    """Several nodes get one option for all. If they have it, each gets its fastest again."""
    names = [node.outputs[0] for node in option.nodes]
    if all(found.picks[name] is option for name in names):
        return {name: fastest_of(space.single[name]) for name in names}
    if any(found.picks[name].is_pattern for name in names):
        return {}
    return dict.fromkeys(names, option)


def _replaced(name: str, option: Option, found: Candidate) -> Picks:
    """One node gets another option."""
    picked = found.picks[name]
    return {} if picked is option or picked.is_pattern else {name: option}
