"""The goals of ``--optimize``, which decide which of two candidates is better."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from microgen.compiler.schedule.options import NOISE
from microgen.compiler.schedule.state import Candidate, Picks, Scorer

Key = tuple[int, ...]

RUNTIME = 2560  # bytes of code that firmware has besides its operators

# The key by which RAM, cycles and flash are compared. Less is better; later numbers decide if
# earlier ones are equal. "balanced" weighs the three alike: one percent less of one is worth one
# percent more of another. For "ram", one percent less RAM is worth three percent more cycles. An
# unknown number is treated as 1. Flash does not include the constants that all choices need: a
# percent of these is more than the code of most functions.
GOALS: Mapping[str, Callable[[int, int, int], Key]] = {
    "speed": lambda ram, cycles, flash: (cycles, ram, flash),
    "balanced": lambda ram, cycles, flash: (
        max(1, ram) * max(1, cycles) * max(1, flash + RUNTIME),
        cycles,
    ),
    "ram": lambda ram, cycles, flash: (max(1, ram) ** 3 * max(1, cycles), ram, flash),
    "flash": lambda ram, cycles, flash: (flash, cycles, ram),
}
# The stack counts only by the bytes that exceed this fraction of the buffers. Kernels without
# arrays on the stack have as much scratch instead, or are much slower.
_FREE = 2
# The default keeps every layer's result in memory, where `run --compare` can read it.
KEEPS_LAYERS = frozenset({"balanced"})
# Layers are computed a few rows at a time if that takes less RAM.
ROLLS = frozenset({"ram"})
# The part of the key that decides before RAM, because RAM takes planning.
_FIRST: Mapping[str, Callable[[int, int], Key]] = {
    "speed": lambda cycles, _flash: (cycles,),
    "flash": lambda cycles, flash: (flash, cycles),
}


def improved(
    goal: str, scorer: Scorer, found: Candidate, change: Picks, most: int = sys.maxsize
) -> Candidate:
    """The changed candidate if it is better and needs at most ``most`` bytes of workspace, inputs
    and outputs, otherwise the candidate itself."""
    mine, others = found.cheap_after(change), found.cheap
    # A gain within the error of the estimates is treated as none, so that RAM decides.
    if goal == "speed" and others[0] - _noise(found, change) <= mine[0] < others[0]:
        mine = (others[0], mine[1])
    if goal in _FIRST and (first := _FIRST[goal])(*mine) != first(*others):
        if first(*mine) > first(*others):
            return found
        changed = found.after(change)
        fits = most == sys.maxsize or scorer.has_less(changed, lambda ram: ram <= most)
        return changed if fits else found

    def key(peak: int, stack: int, cycles: int, flash: int) -> Key:
        counted = max(0, stack - peak // _FREE)
        return GOALS[goal](peak + counted, cycles, flash - scorer.space.needed)

    here = key(scorer.ram(found).arena_io, scorer.stack(found), *others)
    stack = scorer.stack_after(found, change)

    def is_better(peak: int) -> bool:
        return peak <= most and key(peak, stack, *mine) < here

    # It is planned only if it could be better. RAM is counted with the stack.
    if not is_better(scorer.least_ram(found, change)):
        return found
    changed = found.after(change)
    return changed if scorer.has_less(changed, is_better) else found


def _noise(found: Candidate, change: Picks) -> float:
    """The error in cycles that estimates of a change may have."""
    gone, _ = found.replaced(change)
    return NOISE * sum(option.cycles for option in gone)
