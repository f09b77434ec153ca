"""``python -m scripts.scale.unit``: work like that of microgen, and always the same.

The times of commands are scaled by the time that it takes, so that they do not depend on how fast
the machine is, nor on any code of microgen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

ROUNDS = 300


@dataclass(frozen=True, slots=True)
class _Layer:
    """A value that is hashed, compared and changed as often as nodes and options are."""

    name: str
    shape: tuple[int, ...]
    cost: int


def work() -> int:
    """Make layers, find them in tables, sort them, and compute with small arrays; a checksum."""
    total = 0
    for turn in range(ROUNDS):
        layers = [_Layer(f"layer{n}", (1, 8, n % 7, 8), n * 31 % 101) for n in range(400)]
        changed = [replace(one, cost=one.cost ^ turn) for one in layers]
        known = {one: number for number, one in enumerate(changed)}
        ordered = sorted(known, key=lambda one: (-one.cost, one.name))
        for one, other in zip(ordered, changed, strict=True):
            live = [each for each in one.shape if each > 1]
            total += known[other] * len(live) + sum(live) + max(one.cost, other.cost)
        for number in range(200):
            values = np.arange(8, dtype=np.int32) * number + turn
            total += int(np.clip(values, -128, 127).sum())
    return total


if __name__ == "__main__":
    print(work())
