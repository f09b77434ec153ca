"""What ``--optimize`` asks for: which of two candidates is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from microgen.schedule.state import Picks, Scorer

Key = tuple[int, ...]

# Of RAM, cycles and flash: what is compared. Less is better; later numbers count if earlier ones
# are equal. "balanced" weighs the three alike: one percent less of one is worth one percent more
# of another. An axis of which nothing is known counts as one.
GOALS: Mapping[str, Callable[[int, int, int], Key]] = {
    "speed": lambda ram, cycles, flash: (cycles, ram, flash),
    "balanced": lambda ram, cycles, flash: (max(1, ram) * max(1, cycles) * max(1, flash), cycles),
    "ram": lambda ram, cycles, flash: (ram, cycles, flash),
    "flash": lambda ram, cycles, flash: (flash, cycles, ram),
}
# The part that decides before RAM, which takes planning, is asked for.
_FIRST: Mapping[str, Callable[[int, int], Key]] = {
    "speed": lambda cycles, _flash: (cycles,),
    "flash": lambda cycles, flash: (flash, cycles),
}


def is_better(goal: str, scorer: Scorer, one: Picks, base: Picks) -> bool:
    """Whether ``one``, a change of ``base``, is better. It is planned only if it could be."""
    mine, others = scorer.cheap(one), scorer.cheap(base)
    if goal in _FIRST:
        first = _FIRST[goal]
        if first(*mine) != first(*others):
            return first(*mine) < first(*others)
    key = GOALS[goal]
    here = key(scorer.ram(base).peak, *others)
    return (
        key(scorer.least_ram(one, base), *mine) < here and key(scorer.ram(one).peak, *mine) < here
    )
