"""External functions of several nodes, and networks on several targets, compute what nodes do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.building import builder
from microgen.compiler import passes
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.options import Options
from microgen.planner.program.types import Program, Role
from microgen.running import runner
from tests.devices.networks import BOTH, placed
from tests.support.compiling import by_port, program_of, write_project
from tests.support.graphs import Builder, random_graph
from tests.support.tools import NEEDS_NINJA

OPTIONS = Options(targets=BOTH)


def _same_as_reference(graph: Graph, folder: Path, seed: int = 0) -> Program:
    """Compares the graph's results as sanitized firmware with its nodes' by numpy."""
    program = write_project(graph, folder / "p", OPTIONS)
    built = builder.build(folder / "p", sanitize=True)
    rng = np.random.default_rng(seed)
    inputs = {
        name: rng.integers(-128, 128, (2, *graph.types[name].shape)).astype(np.int8)
        for name in graph.inputs
    }
    found = runner.run(folder / "p", inputs, elf=built.elf).outputs
    for sample in range(2):
        values = evaluate(graph, {n: a[sample] for n, a in inputs.items()}, registry())
        for name, expected in by_port(program, graph, values).items():
            np.testing.assert_array_equal(found[name][sample], expected)
    return program


@NEEDS_NINJA
def test_views_inside_a_function_are_other_names_of_its_buffers(tmp_path: Path) -> None:
    """The views are at its start, in its middle and at its end."""
    b = Builder(1)
    flat = b.reshape(b.conv(b.reshape(b.input(1, 16), 1, 2, 4, 2), 3), 1, 24)
    out = b.reshape(b.dense(flat, 6), 1, 3, 2)
    graph = placed(b.graph(out), ["npu0/f"] * 5)
    program = _same_as_reference(graph, tmp_path)
    (function,) = program.functions
    assert function.name == "f"
    assert len(function.body) == 2
    assert not program.buffers


@NEEDS_NINJA
def test_a_function_with_several_results_some_of_them_read_inside(tmp_path: Path) -> None:
    b = Builder(2)
    first = b.conv(b.input(1, 4, 4, 2), 2)
    second = b.conv(first, 2)
    third = b.add(first, second)
    graph = b.graph(b.add(second, b.reshape(b.reshape(third, 32), 1, 4, 4, 2)), second)
    places = ["npu0/f", "npu0/f", "npu0/f", "", "", ""]
    program = _same_as_reference(placed(graph, places), tmp_path)
    function = program.function("f")
    roles = [p.role for p in function.parameters]
    assert roles.count(Role.OUTPUT) == 2
    assert roles[-1] is Role.DEVICE


@NEEDS_NINJA
def test_constants_of_a_function_do_not_take_its_inputs_names(tmp_path: Path) -> None:
    b = Builder(3)
    lhs, rhs = b.input(1, 2, 2, 3), b.input(1, 2, 2, 3)
    graph = b.graph(b.add(b.add(b.add(lhs, b.int8(3)), b.int8(3)), rhs))
    program = _same_as_reference(placed(graph, ["npu0/f"] * 3), tmp_path)
    names = [p.name for p in program.functions[0].parameters]
    assert len(set(names)) == len(names)
    assert names[:2] == ["in0", "in1"]


def _random_places(graph: Graph, rng: np.random.Generator) -> list[str]:
    """Random places in runs of nodes. Each run on an external function has its own function."""
    places: list[str] = []
    while len(places) < len(graph.nodes):
        target = str(rng.choice(["", "npu0", "npu1"]))
        is_function = bool(target) and rng.random() < 0.7
        place = f"{target}/f{len(places)}" if is_function else target
        places += [place] * int(rng.integers(1, 4))
    return places[: len(graph.nodes)]


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 6))]
)
def test_a_random_graph_over_random_targets(seed: int, tmp_path: Path) -> None:
    graph = random_graph(3000 + seed)
    places = _random_places(graph, np.random.default_rng(seed))
    _same_as_reference(placed(graph, places), tmp_path, seed)


def test_an_activation_stays_on_its_target() -> None:
    b = Builder()
    graph = b.graph(b.clip(b.conv(b.input(1, 4, 4, 2), 2), Activation.RELU))
    assert len(passes.run(graph).nodes) == 1
    assert len(passes.run(placed(graph, ["npu0", ""])).nodes) == 2
    assert len(passes.run(placed(graph, ["npu0/f", "npu0/g"])).nodes) == 2
    assert len(passes.run(placed(graph, ["npu0/f", "npu0/f"])).nodes) == 1


def test_a_pad_stays_on_its_target() -> None:
    b = Builder()
    zero = b.types[data := b.input(1, 4, 4, 2)].zero_point
    padded = b.pad(data, ((0, 0), (1, 1), (1, 1), (0, 0)), zero)
    graph = b.graph(b.conv(padded, 2, padding="VALID"))
    assert len(passes.run(graph).nodes) == 1
    assert len(passes.run(placed(graph, ["", "npu0"])).nodes) == 2


def test_a_function_of_views_only_costs_nothing() -> None:
    b = Builder()
    graph = b.graph(b.conv(b.reshape(b.input(1, 32), 1, 4, 4, 2), 2))
    program = program_of(placed(graph, ["npu0/f", ""]), OPTIONS)
    assert len(program.calls) == 1
    assert not program.devices
