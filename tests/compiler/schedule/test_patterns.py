"""Implementations of several layers: chosen where they win, exact, and every layer is kept."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import planner
from microgen.base.errors import UnsupportedError
from microgen.base.manifest.schedule import ChoiceRecord, FunctionChoices, ScheduleRecord
from microgen.compiler import codegens, lowering, partition, passes, schedule
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import Schedule
from microgen.compiler.schedule.state import Worth
from microgen.graph import ops
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Graph
from microgen.interface import api
from microgen.planner.program.ram import Ram
from microgen.planner.program.types import Program
from microgen.target import board as boards
from microgen.target.board import Board
from tests.support.compiling import write_project
from tests.support.graphs import Builder
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_GDBSERVER, NEEDS_NINJA, NEEDS_RISCV

M4 = boards.load("mps2_an386")
FUSED = "mg_depthwise_pointwise_s8_"


def inverted_residual(size: int = 8, wide: int = 48, narrow: int = 8) -> Graph:
    """A convolution to many channels, a depthwise one on them, and one back to few."""
    b = Builder()
    expanded = b.conv(b.input(1, size, size, narrow), wide, 1)
    return b.graph(b.conv(b.depthwise(expanded), narrow, 1))


def separable() -> Graph:
    """Depthwise and 1x1 convolutions between others: all tensors have the same size."""
    b = Builder()
    first = b.conv(b.input(1, 8, 8, 3), 16)
    return b.graph(b.conv(b.conv(b.depthwise(first), 16, 1), 16))


def read_twice() -> Graph:
    """Something else reads what is between the two convolutions."""
    b = Builder()
    between = b.depthwise(b.conv(b.input(1, 8, 8, 8), 48, 1))
    return b.graph(b.conv(between, 8, 1), b.pool(between, "max"))


def parts_of(graph: Graph, board: Board = M4) -> Partition:
    return partition.assign(passes.run(graph), [codegens.registry()["builtin"]], board)


def lowered(parts: Partition) -> Program:
    names = parts.graph.outputs
    return lowering.lower(parts, codegens.registry(), M4, module="default", output_names=names)


def ram_of(parts: Partition, _worth: Worth = bool) -> Ram:
    program = lowered(parts)
    plan = planner.plan(program)
    return Ram(plan.peak + program.io_bytes, least=plan.lower_bound + program.io_bytes)


def chosen(graph: Graph, goal: str) -> Schedule:
    return schedule.choose(parts_of(graph), M4.cpu, goal, ram_of)


def symbols(made: Schedule) -> list[str]:
    return [c.symbol for region in made.partition.regions for c in region.choices]


def function(implementation: str, *computes: str) -> FunctionChoices:
    return FunctionChoices("builtin", (ChoiceRecord(computes, implementation),))


def test_it_is_taken_where_it_saves_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rows would need even less.
    monkeypatch.setattr(sys.modules["microgen.compiler.schedule.choose"], "ROLLS", frozenset())
    made = chosen(inverted_residual(), "ram")
    assert f"{FUSED}dsp" in symbols(made)
    # Input, the large tensor, a pixel of the one that is gone, output: all at once.
    ram = ram_of(made.partition)
    assert ram.arena_io == 8 * 8 * 8 + 8 * 8 * 48 + 48 + 8 * 8 * 8
    assert ram.arena_io < ram_of(parts_of(inverted_residual())).arena_io
    assert ram.least == ram.arena_io


def test_the_default_keeps_every_layer_in_memory() -> None:
    assert not [s for s in symbols(chosen(inverted_residual(), "balanced")) if s.startswith(FUSED)]


# For "flash" it is as good as both kernels: their bytes are the sum.
@pytest.mark.parametrize("goal", ["speed", "balanced", "ram"])
def test_it_is_not_taken_where_it_saves_none(goal: str) -> None:
    assert not [s for s in symbols(chosen(separable(), goal)) if s.startswith(FUSED)]


def test_it_is_no_option_if_something_else_reads_the_inner_tensor() -> None:
    made = chosen(read_twice(), "ram")
    assert not [s for s in symbols(made) if s.startswith(FUSED)]
    given = ScheduleRecord(
        functions=(
            function("mg_conv2d_1x1_s8_dsp", "layer0"),
            function(f"{FUSED}dsp", "layer1", "layer2"),
            function("mg_max_pool2d_s8", "layer3"),
        )
    )
    with pytest.raises(UnsupportedError, match="no chain that ends with it"):
        schedule.file.applied(given, parts_of(read_twice()), M4.cpu)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("board", "loop"),
    [
        pytest.param("native", "portable", marks=NEEDS_NINJA),
        pytest.param("mps2_an386", "dsp", marks=(NEEDS_NINJA, NEEDS_ARM)),
        pytest.param("qemu_riscv32", "portable", marks=(NEEDS_NINJA, NEEDS_RISCV)),
    ],
)
@pytest.mark.parametrize(("size", "wide", "narrow"), [(8, 48, 8), (5, 7, 3)])
@pytest.mark.parametrize("form", ["specialised", "shared"])
def test_its_results_are_the_references(
    board: str, loop: str, size: int, wide: int, narrow: int, form: str, tmp_path: Path
) -> None:
    graph = inverted_residual(size, wide, narrow)
    both = ChoiceRecord(("layer1", "layer2"), f"{FUSED}{loop}", form)
    given = ScheduleRecord(
        functions=(
            function("mg_conv2d_s8", "layer0"),
            FunctionChoices("builtin", (both,)),
        )
    )
    write_project(graph, tmp_path / "p", on=board, given=given)
    shape = graph.types["input0"].shape
    data = np.random.default_rng(0).integers(-128, 128, (3, *shape)).astype(np.int8)
    ran = api.run(tmp_path / "p", {"input0": data})
    (found,) = ran.outputs.values()
    for sample, output in zip(data, found, strict=True):
        values = interpreter.evaluate(graph, {"input0": sample}, ops.registry())
        np.testing.assert_array_equal(output, values[graph.outputs[0]])


@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_GDBSERVER
def test_profile_and_comparison_keep_both_layers(tmp_path: Path) -> None:
    planned = api.plan(DIGITS, "mps2_an386", optimize="speed").schedule
    names = [name for f in planned.functions for choice in f.choices for name in choice.computes]
    pair = tuple(name for name in names if "block/depthwise" in name or "block/pointwise" in name)
    first, *others = (f for f in planned.functions if f.choices[0].computes[0] not in pair)
    given = ScheduleRecord(functions=(first, function(f"{FUSED}dsp", *pair), *others))
    file = tmp_path / "s.json"
    file.write_text(schedule.file.dumps(given))
    project = tmp_path / "p"
    compiled = microgen.generate(DIGITS, "mps2_an386", project, schedule=str(file))
    call = compiled.program.calls[1]
    assert [step.tensor for step in call.steps] == list(pair)
    assert {step.kernel for step in call.steps} == {f"{FUSED}dsp"}
    found = microgen.run(project, compare=True, profile=True)
    assert found.checks.ok, found.checks.to_text()
    assert found.per_call is not None
    assert len(found.per_call[0]) == len(names) - 1
    report = str(found.verdicts[0])
    assert found.verdicts[0].ok
    assert "6 of 7 layers equal" in report
    assert f"{FUSED}dsp uses it at once and does not store it" in report
    source = (project / "model/codegen/host/src/default_lib0.c").read_text()
    assert "block/depthwise/Relu" in source
    assert "block/pointwise/BiasAdd" in source
