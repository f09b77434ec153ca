"""What ``--optimize`` asks for: which of two candidates is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from microgen.schedule.state import Picks, Scorer

# Of RAM, cycles and flash: what is compared. Less is better; later numbers count if earlier ones
# are equal. "balanced" weighs the three alike: one percent less of one is worth one percent more
# of another. An axis of which nothing is known counts as one.
GOALS: Mapping[str, Callable[[int, int, int], tuple[int, ...]]] = {
    "speed": lambda ram, cycles, flash: (cycles, ram, flash),
    "balanced": lambda ram, cycles, flash: (max(1, ram) * max(1, cycles) * max(1, flash), cycles),
    "ram": lambda ram, cycles, flash: (ram, cycles, flash),
    "flash": lambda ram, cycles, flash: (flash, cycles, ram),
}


def is_better(goal: str, scorer: Scorer, one: Picks, base: Picks) -> bool:
    """Whether ``one``, a change of ``base``, is better. It is planned only if it could be."""
    key, here = GOALS[goal], GOALS[goal](scorer.ram(base).peak, *scorer.cheap(base))
    if key(scorer.least_ram(one, base), *scorer.cheap(one)) >= here:
        return False
    return key(scorer.ram(one).peak, *scorer.cheap(one)) < here
