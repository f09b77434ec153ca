"""What ``--optimize`` asks for: which of two candidates is better."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from microgen.schedule.options import NOISE
from microgen.schedule.state import Candidate, Picks, Scorer
from microgen.target.cpu import Cpu, Feature

Key = tuple[int, ...]

# Of RAM, cycles and flash: what is compared. Less is better; later numbers count if earlier ones
# are equal. "balanced" weighs the three alike: one percent less of one is worth one percent more
# of another, if flash is not raised to a power. An axis of which nothing is known counts as one.
GOALS: Mapping[str, Callable[[int, int, int], Key]] = {
    "speed": lambda ram, cycles, flash: (cycles, ram, flash),
    "balanced": lambda ram, cycles, flash: (max(1, ram) * max(1, cycles) * max(1, flash), cycles),
    "ram": lambda ram, cycles, flash: (ram, cycles, flash),
    "flash": lambda ram, cycles, flash: (flash, cycles, ram),
}
# The default keeps every layer's result in memory, where `run --compare` can read it.
KEEPS_LAYERS = frozenset({"balanced"})
# It also takes no more RAM for speed than the calls with the least scratch need.
LIMITS_RAM = frozenset({"balanced"})
# Layers are computed a few rows at a time where that takes less RAM.
ROLLS = frozenset({"ram"})
# The part that decides before RAM, which takes planning, is asked for.
_FIRST: Mapping[str, Callable[[int, int], Key]] = {
    "speed": lambda cycles, _flash: (cycles,),
    "flash": lambda cycles, flash: (flash, cycles),
}


def flash_power(cpu: Cpu) -> int:
    """The power of flash in the product of "balanced".

    Without SIMD instructions it is higher: an own function for each layer's shape saves few cycles
    there, and most of the flash are constants, of which no choice saves much."""
    is_simd = bool({Feature.DSP, Feature.MVE} & cpu.features) or cpu.architecture == "host"
    return 1 if is_simd else 2


def improved(
    goal: str,
    scorer: Scorer,
    found: Candidate,
    change: Picks,
    limit: int = sys.maxsize,
    power: int = 1,
) -> Candidate:
    """The candidate after the change if that is better, otherwise the candidate itself. It is
    planned only if it could be better. ``limit`` is for RAM: each byte more is worse than anything
    else. ``power`` is that of flash."""
    mine, others = found.cheap_after(change), found.cheap
    if goal == "speed" and others[0] - _noise(found, change) <= mine[0] < others[0]:
        mine = (others[0], mine[1])
    if goal in _FIRST and (first := _FIRST[goal])(*mine) != first(*others):
        return found.after(change) if first(*mine) < first(*others) else found

    def key(ram: int, cycles: int, flash: int) -> Key:
        return (max(0, ram - limit), *GOALS[goal](ram, cycles, flash**power))

    here = key(scorer.ram(found).peak, *others)
    if key(scorer.least_ram(found, change), *mine) >= here:
        return found
    changed = found.after(change)
    return changed if key(scorer.ram(changed).peak, *mine) < here else found


def _noise(found: Candidate, change: Picks) -> float:
    """Cycles that estimates of what changes may be off by."""
    gone, _ = found.replaced(change)
    return NOISE * sum(option.cycles for option in gone)
