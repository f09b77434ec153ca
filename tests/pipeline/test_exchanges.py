"""Bounds of candidates near one that was lowered: what lowering them finds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from microgen.compiler import codegens, lowering
from microgen.compiler.codegens.remembered import Remembered
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.schedule.options import space
from microgen.compiler.schedule.search import fastest
from microgen.compiler.schedule.state import Known, scheduled
from microgen.options import Options
from microgen.pipeline import exchanges, memory
from microgen.planner.program.types import Program
from tests.compiler.schedule.costs import M4
from tests.compiler.schedule.test_assembled import random_parts


def _lowered(parts: Partition, builtin: Remembered) -> Program:
    generators = {**codegens.registry(), BUILTIN: builtin}
    return lowering.lower(parts, generators, M4, module="m", output_names=parts.graph.outputs)


def _bounds(seed: int, folder: Path) -> Iterator[tuple[int | None, int]]:
    """The bounds of 15 random candidates of a network with concatenations, by both ways."""
    found = space(random_parts(seed, folder), M4.cpu, prefers_shared=False)
    builtin, known, chance = Remembered(codegens.registry()[BUILTIN]), Known(), random.Random(seed)
    first = fastest(found)
    parts = scheduled(found, first.picks, {}, known)
    near = exchanges.of(parts, _lowered(parts, builtin), builtin, M4)
    for _ in range(15 if near else 0):
        picks = {name: chance.choice(options) for name, options in found.single.items()}
        other = scheduled(found, first.after(picks).picks, {}, known)
        lowered = memory.bound(_lowered(other, builtin), M4, Options())
        yield near.bound(other) if near else None, lowered


def test_bounds_are_those_of_the_lowered_program(tmp_path: Path) -> None:
    every = [pair for seed in range(12) for pair in _bounds(seed, tmp_path)]
    compared = [(near, lowered) for near, lowered in every if near is not None]
    assert len(compared) >= 30
    assert all(near == lowered for near, lowered in compared)
