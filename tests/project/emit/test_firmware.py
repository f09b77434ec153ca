"""Generated C, compiled for the host with sanitizers: random graphs, hostile names, error codes."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen import planner
from microgen.base.errors import RunError
from microgen.building import builder
from microgen.graph.ir.graph import Graph, Origin
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.project.emit.model import emit
from microgen.project.emit.unit import EmitOptions, Unit
from microgen.running import runner
from tests.support.compiling import program_of, simplest, write_project
from tests.support.graphs import Builder, random_graph, rows_of_a_transpose
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA
HOSTILE = '*/ int x; /* " \\ %s ??/ \n ; </a> \x1b[31m é ' + "long" * 300


def _inputs(graph: Graph, count: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        name: rng.integers(-128, 128, (count, *graph.types[name].shape)).astype(np.int8)
        for name in graph.inputs
    }


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(12))
def test_a_random_graph_computes_what_the_reference_does(seed: int, tmp_path: Path) -> None:
    graph = random_graph(1000 + seed)
    program = write_project(graph, tmp_path / "p")
    built = builder.build(tmp_path / "p", sanitize=True)
    inputs = _inputs(graph, 3, seed)
    result = runner.run(tmp_path / "p", inputs, elf=built.elf)
    for i in range(3):
        values = evaluate(graph, {name: a[i] for name, a in inputs.items()}, registry())
        for port, tensor in zip(program.outputs, graph.outputs, strict=True):
            assert np.array_equal(result.outputs[port.tensor][i], values[tensor])


def _renamed(graph: Graph, name: str) -> Graph:
    """The graph with hostile names for all tensors and layers."""
    names = {old: f"{name}{i}" for i, old in enumerate(graph.types)}
    nodes = tuple(
        dataclasses.replace(
            node,
            inputs=tuple(names[i] for i in node.inputs),
            outputs=tuple(names[o] for o in node.outputs),
            origin=Origin(f"{name}.tflite", name),
        )
        for node in graph.nodes
    )
    return Graph(
        name,
        tuple(names[i] for i in graph.inputs),
        tuple(names[o] for o in graph.outputs),
        nodes,
        {names[n]: t for n, t in graph.types.items()},
        {names[n]: a for n, a in graph.constants.items()},
    )


@pytest.mark.parametrize("name", [HOSTILE, "int", "3", "", "\u202e"])
def test_hostile_names_cannot_leave_comments_and_strings(name: str, tmp_path: Path) -> None:
    graph = _renamed(random_graph(1003), name)
    write_project(graph, tmp_path / "p")
    built = builder.build(tmp_path / "p")
    result = runner.run(tmp_path / "p", elf=built.elf)
    assert result.status == 0
    for path in (tmp_path / "p" / "model" / "codegen").rglob("*.[chS]"):
        assert path.read_bytes().isascii()
        assert "??" not in path.read_text()


def _failing(project: Path, status: int) -> None:
    """Makes the last operator fail."""
    path = next(project.rglob("default_lib1.c"))
    head, found, tail = path.read_text().rpartition("return mg_take")
    assert found
    path.write_text(f"{head}return {status};\n    {found}{tail}")


def test_only_what_can_fail_is_checked() -> None:
    program = program_of(rows_of_a_transpose())
    files = emit(Unit(program, planner.plan(program), EmitOptions("x.tflite"))).files
    runner_text = files["model/codegen/host/src/default_lib0.c"].decode()
    assert re.findall(r"(status = |\(void\))(\w+_fused_\w+)\(", runner_text) == [
        ("status = ", "tvmgen_default_fused_take"),
        ("(void)", "tvmgen_default_fused_transpose"),
    ]
    last = r"    if \(status == 0\) \{[^;]*_transpose\([^;]*\);\n    \}\n\n    return status;\n"
    assert re.search(last, runner_text)


def test_an_operators_error_code_is_what_run_returns(tmp_path: Path) -> None:
    write_project(rows_of_a_transpose(), tmp_path / "p")
    _failing(tmp_path / "p", 42)
    built = builder.build(tmp_path / "p")
    with pytest.raises(RunError, match="42"):
        runner.run(tmp_path / "p", elf=built.elf)


NULL_MAIN = """
#include "tvmgen_default.h"
#include <stddef.h>
#include <stdio.h>
int main(void)
{
    int8_t in[TVMGEN_DEFAULT_INPUT0_SIZE] = {0};
    int8_t out[TVMGEN_DEFAULT_OUTPUT_SIZE];
    struct tvmgen_default_inputs inputs = {in}, no_inputs = {NULL};
    struct tvmgen_default_outputs outputs = {.output = out}, no_outputs = {.output = NULL};
    printf("%d %d %d %d %d", tvmgen_default_run(&inputs, &outputs) != 0,
           tvmgen_default_run(NULL, &outputs) != 0, tvmgen_default_run(&inputs, NULL) != 0,
           tvmgen_default_run(&no_inputs, &outputs) != 0,
           tvmgen_default_run(&inputs, &no_outputs) != 0);
    return 0;
}
"""


def test_the_model_drops_into_a_program_of_ones_own_and_null_is_an_error_code(
    tmp_path: Path,
) -> None:
    """The program uses only the files below model/ and the kernels' headers: no CMake, and a main
    of its own."""
    b = Builder()
    write_project(b.graph(b.conv(b.conv(b.input(1, 4, 4, 2), 2), 3)), tmp_path / "p")
    host = tmp_path / "p" / "model" / "codegen" / "host"
    (tmp_path / "own.c").write_text(NULL_MAIN)
    command = ["cc", "-std=c99", "-Wall", "-Werror", "-o", str(tmp_path / "own")]
    command += [f"-I{host / 'include'}", f"-I{tmp_path / 'p' / 'crt' / 'include'}"]
    sources = [*sorted((host / "src").glob("*.[cS]")), tmp_path / "own.c"]
    subprocess.run([*command, *map(str, sources)], check=True)
    done = subprocess.run([str(tmp_path / "own")], capture_output=True, text=True, check=True)
    assert done.stdout == "0 1 1 1 1"


def test_a_model_without_workspace_has_no_arena(tmp_path: Path) -> None:
    b = Builder()
    graph = b.graph(b.conv(b.input(1, 4, 4, 2), 2))
    program = program_of(graph, given=simplest(graph))
    files = emit(Unit(program, planner.plan(program), EmitOptions("x.tflite"))).files
    assert not [name for name in files if name.endswith(".S")]
    assert not [text for text in files.values() if b"global_workspace" in text]


def test_size_macros_and_the_order_of_the_header_are_tvms() -> None:
    b = Builder()
    graph = b.graph(b.conv(b.conv(b.input(1, 4, 4, 2), 2), 3))
    program = program_of(graph, given=simplest(graph))
    files = emit(Unit(program, planner.plan(program), EmitOptions("x.tflite"))).files
    header = files["model/codegen/host/include/tvmgen_default.h"].decode()
    wanted = [
        "#define TVMGEN_DEFAULT_INPUT0_SIZE 32",
        "#define TVMGEN_DEFAULT_OUTPUT_SIZE 48",
        "struct tvmgen_default_inputs {",
        "struct tvmgen_default_outputs {",
        "int32_t tvmgen_default_run(",
        "#define TVMGEN_DEFAULT_WORKSPACE_SIZE 32",
    ]
    places = [header.index(text) for text in wanted]
    assert places == sorted(places)
    assert re.search(r"void \*input0;", header)
