"""The memory of candidates near one that was lowered: what lowering and planning them finds."""

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
from microgen.planner.program.ram import Ram
from microgen.planner.program.types import Program
from tests.compiler.schedule.costs import M4
from tests.compiler.schedule.test_assembled import random_parts


def _lowered(parts: Partition, builtin: Remembered) -> Program:
    generators = {**codegens.registry(), BUILTIN: builtin}
    return lowering.lower(parts, generators, M4, module="m", output_names=parts.graph.outputs)


def _rams(seed: int, folder: Path) -> Iterator[tuple[Ram | None, Ram]]:
    """The RAM of 15 random candidates of a network with concatenations, by both ways."""
    found = space(random_parts(seed, folder), M4.cpu, prefers_shared=False)
    builtin, known, chance = Remembered(codegens.registry()[BUILTIN]), Known(), random.Random(seed)
    first, options = fastest(found), Options()
    lowered = exchanges.LoweredCandidates(builtin, M4, options)
    parts = scheduled(found, first.picks, {}, known)
    lowered.add(parts, _lowered(parts, builtin))
    for _ in range(15):
        picks = {name: chance.choice(ways) for name, ways in found.single.items()}
        other = scheduled(found, first.after(picks).picks, {}, known)
        program = _lowered(other, builtin)
        bound = memory.bound(program, M4, options)
        _, plan, _ = memory.planned(program, other.graph, M4, options)
        planned = Ram(plan.peak, program.io_bytes, least=bound)
        yield lowered.ram(other, lambda _: True), planned
        unplanned = Ram(bound, least=bound, is_planned=False)
        yield lowered.ram(other, lambda _: False), unplanned


def test_memory_is_that_of_the_lowered_program(tmp_path: Path) -> None:
    every = [pair for seed in range(12) for pair in _rams(seed, tmp_path)]
    compared = [(near, lowered) for near, lowered in every if near is not None]
    assert len(compared) >= 60
    assert all(near == lowered for near, lowered in compared)
