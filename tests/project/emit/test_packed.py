"""The packed calling convention, compiled for the host with sanitizers.

Results equal the reference, and arguments that a packed function cannot take are an error code.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen.building import builder
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Graph, Quant
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.options import Options
from microgen.planner.program.types import Program
from microgen.running import runner
from tests.support.compiling import write_project
from tests.support.each_compiled import UNOPTIMIZED
from tests.support.graphs import Builder, random_graph
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA
ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
PACKED = Options(interface="packed")
HALF_PACKED = Options(interface="packed", unpacked_api=True)
HOST = "model/codegen/host"


def _matches_the_reference(graph: Graph, project: Path, options: Options) -> Program:
    program = write_project(graph, project, options)
    built = builder.build(project, sanitize=True)
    rng = np.random.default_rng(1)
    inputs = {
        name: rng.integers(-128, 128, (2, *graph.types[name].shape)).astype(np.int8)
        for name in graph.inputs
    }
    result = runner.run(project, inputs, elf=built.elf)
    for i in range(2):
        values = evaluate(graph, {name: a[i] for name, a in inputs.items()}, registry())
        for port, tensor in zip(program.outputs, graph.outputs, strict=True):
            assert np.array_equal(result.outputs[port.tensor][i], values[tensor])
    return program


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 6))]
)
def test_a_random_graph_of_packed_operators(seed: int, tmp_path: Path) -> None:
    _matches_the_reference(random_graph(2000 + seed), tmp_path / "p", PACKED)


@pytest.mark.parametrize("seed", range(2))
def test_a_random_graph_with_a_packed_entry_point(seed: int, tmp_path: Path) -> None:
    _matches_the_reference(random_graph(2100 + seed), tmp_path / "p", HALF_PACKED)


def test_a_function_that_sees_no_shapes_takes_all_of_its_calls(tmp_path: Path) -> None:
    """Equal functions become one. Here it gets tensors of two shapes with the same size."""
    b = Builder()
    image = b.input(1, 4, 4, 2)
    first = b.add(image, image)
    flat = b.reshape(first, 1, 32)
    graph = b.graph(b.add(flat, flat), first)
    program = _matches_the_reference(graph, tmp_path / "p", PACKED)
    assert len(program.functions) == 1
    text = (tmp_path / "p" / HOST / "src" / "default_packed.c").read_text()
    assert "{tvmgen_default_shape_32, MG_ANY_SHAPE, {kDLInt, 8U, 1U}}, /* in0 */" in text


def test_the_callers_tensors_are_the_only_ones_on_the_stack(tmp_path: Path) -> None:
    """All others are constants, so two inferences share nothing except what the model shares."""
    b = Builder()
    data = b.input(1, 4, 4, 2)
    for _ in range(4):
        data = b.clip(b.conv(data, 2), Activation.RELU)
    write_project(b.graph(data), tmp_path / "p", PACKED)
    text = (tmp_path / "p" / HOST / "src" / "default_lib0.c").read_text()
    head, _, main = text.partition("/* Not inlined")
    assert re.findall(r"^    const DLTensor", main, re.MULTILINE) == ["    const DLTensor"] * 2
    assert not re.findall(r"^static (?!const)\w+ [^(]*$", text, re.MULTILINE)
    assert head.count("static const DLTensor") > 10


def test_the_registry_has_no_casts_and_names_operators_only_where_they_are_packed(
    tmp_path: Path,
) -> None:
    """TVM declares unpacked operators with the packed prototype in its registry."""
    b = Builder()
    graph = b.graph(b.conv(b.conv(b.input(1, 4, 4, 2), 2), 3))
    operators = [f.name for f in write_project(graph, tmp_path / "packed", PACKED).functions]
    write_project(graph, tmp_path / "half", HALF_PACKED)
    packed, half = (
        (tmp_path / name / HOST / "src" / "default_registry.c").read_text()
        for name in ("packed", "half")
    )
    assert "(TVMBackendPackedCFunc)" not in packed + half
    assert all(f'"{name}\\0"' in packed for name in operators)
    assert "_fused_" not in half


def _program(project: Path, source: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Compiles a caller's own program with the model, without CMake, and runs it."""
    host, crt = project / HOST, ROOT / "crt"
    command = ["cc", *UNOPTIMIZED, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += [f"-I{host / 'include'}", f"-I{crt / 'include'}", "-o", str(tmp_path / "own")]
    sources = [*sorted((host / "src").glob("*.[cS]")), crt / "src" / "func_registry.c"]
    subprocess.run([*command, *map(str, sources), str(HERE / source)], check=True)
    return subprocess.run([str(tmp_path / "own")], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("options", [PACKED, HALF_PACKED], ids=["packed", "half"])
def test_what_the_entry_point_cannot_take_is_an_error_code(
    options: Options, tmp_path: Path
) -> None:
    b = Builder()
    write_project(b.graph(b.sigmoid(b.input(1, 4, 4, 2))), tmp_path / "p", options)
    done = _program(tmp_path / "p", "packed_arguments.c", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "ok\n"


def test_functions_are_found_by_name_and_metadata_says_what_the_model_is(tmp_path: Path) -> None:
    b = Builder()
    left, right = b.input(1, 4, 4, 2), b.input(1, 4, 4, 2)
    scaled = Quant((0.3,), (-4,))  # there are ties, so no affine form, which takes a constant
    graph = b.graph(b.add(left, right, scaled), b.conv(right, 3))
    write_project(graph, tmp_path / "p", PACKED)
    done = _program(tmp_path / "p", "packed_registry.c", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "tvmgen_default version 1 pools 0 0",
        "input0: 4 dimensions 1 4 4 2 type 0 8 1",
        "input1: 4 dimensions 1 4 4 2 type 0 8 1",
        "layer0: 4 dimensions 1 4 4 2 type 0 8 1",
        "layer1: 4 dimensions 1 4 4 3 type 0 8 1",
        "run 0, add 0, equal 1",
        "add with three tensors of one shape 0, with another shape 803, with two 800",
        "nothing of that name 100",
    ]


def test_hostile_names_stay_inside_their_strings(tmp_path: Path) -> None:
    from tests.project.emit.test_firmware import HOSTILE, _renamed

    write_project(_renamed(random_graph(1003), HOSTILE), tmp_path / "p", PACKED)
    builder.build(tmp_path / "p")
    for path in (tmp_path / "p" / HOST).rglob("*.[chS]"):
        assert path.read_bytes().isascii()
        assert "??" not in path.read_text()
