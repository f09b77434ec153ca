"""Searches do not plan candidates whose bound says that they are no better, and lower regions that
candidates have in common once. They find the same as without."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from microgen import planner
from microgen.compiler import codegens, lowering
from microgen.compiler.codegens.base import Codegen, Primitive, Region
from microgen.compiler.codegens.remembered import Remembered
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import choose
from microgen.compiler.schedule.goals import GOALS
from microgen.compiler.schedule.state import Worth
from microgen.graph.ir.graph import Graph
from microgen.planner.program.ram import Ram
from microgen.target.board import Board
from tests.compiler.schedule.costs import M4, parts_of, two_convolutions
from tests.support.graphs import random_graph

BUILTIN = codegens.registry()["builtin"]


class _Counting:
    """Plans candidates, all of them or those that are worth it, and counts."""

    def __init__(self, *, uses_bounds: bool, codegen: Codegen = BUILTIN) -> None:
        self.uses_bounds = uses_bounds
        self.codegens = {codegen.name: codegen}
        self.plans = 0

    def __call__(self, parts: Partition, worth: Worth) -> Ram:
        names = parts.graph.outputs
        program = lowering.lower(parts, self.codegens, M4, module="default", output_names=names)
        bound = planner.bound(program, ()) + program.io_bytes
        if self.uses_bounds and not worth(bound):
            return Ram(bound, least=bound, is_planned=False)
        self.plans += 1
        plan = planner.plan(program)
        assert plan.lower_bound + program.io_bytes == bound
        return Ram(plan.peak + program.io_bytes, least=bound)


@pytest.mark.parametrize("goal", GOALS)
def test_bounds_change_no_choice(goal: str) -> None:
    saved = 0
    for seed in range(4):
        parts = parts_of(random_graph(seed))
        every, some = _Counting(uses_bounds=False), _Counting(uses_bounds=True)
        assert choose(parts, M4.cpu, goal, some) == choose(parts, M4.cpu, goal, every)
        saved += every.plans - some.plans
    assert saved >= 0
    assert saved > 0 or goal in ("speed", "flash")  # which plan few


class _Once:
    """The built-in kernels. They remember what they lowered."""

    name = BUILTIN.name
    claims = BUILTIN.claims

    def __init__(self) -> None:
        self.seen: list[Region] = []

    def lower(self, regions: Sequence[Region], graph: Graph, board: Board) -> Sequence[Primitive]:
        self.seen += regions
        return BUILTIN.lower(regions, graph, board)


def test_regions_that_candidates_have_in_common_are_lowered_once() -> None:
    parts = parts_of(two_convolutions())
    once, always = _Once(), _Once()
    found = choose(parts, M4.cpu, "balanced", _Counting(uses_bounds=True, codegen=Remembered(once)))
    same = choose(parts, M4.cpu, "balanced", _Counting(uses_bounds=True, codegen=always))
    assert found == same
    assert len({(region.nodes, region.choices) for region in once.seen}) == len(once.seen)
    assert len(once.seen) < len(always.seen)
