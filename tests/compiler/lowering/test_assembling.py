"""Concatenations whose parts are computed in their results: which calls are left, and what they
compute as C with sanitizers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.base.errors import UnsupportedError
from microgen.base.manifest.schedule import ScheduleRecord
from microgen.compiler import passes
from microgen.compiler.schedule import choose, file
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.interface import api
from microgen.planner import parts_check, plan
from microgen.planner.program.steps import Around, Output
from microgen.planner.program.types import Program, Storage
from microgen.project.firmware.compiled import Compiled
from microgen.target import board
from tests.compiler.schedule.costs import no_ram
from tests.differential import program
from tests.support import concat_networks
from tests.support.compiling import parts_of, program_of
from tests.support.graphs import Builder

SAMPLES = 2
OPTIONS: list[dict[str, Any]] = [
    {"optimize": "speed"},
    {"optimize": "ram"},
    {"optimize": "ram", "input_consumed": True},
    {"workspace_io": True},
    {"optimize": "flash", "output_workspace": True},
    {"executor": "graph"},
]


def nested(axis: int = 1) -> Builder:
    """layer2 joins layer0 and layer1, and layer4 joins that and layer3."""
    b = Builder(1)
    x = b.input(1, 6, 6, 3)
    both = b.node("concatenate", ConcatenateAttrs(axis), b.conv(x, 4), b.conv(x, 4, 1))
    b.conv(
        b.node("concatenate", ConcatenateAttrs(1), both, b.conv(both, b.types[both].shape[3])), 2
    )
    return b


def lowered(b: Builder, *outputs: str, given: ScheduleRecord | None = None) -> Program:
    return program_of(b.graph(*outputs), given=given)


def written(found: Program) -> list[tuple[str, int]]:
    """The last argument of each call that is no scratch: what it writes."""
    return [(call.args[-1].name, call.args[-1].offset) for call in found.calls]


def test_parts_are_written_where_they_belong() -> None:
    found = lowered(nested(), "layer5")
    assert written(found) == [("sid_5", 0), ("sid_5", 144), ("sid_5", 288), ("output", 0)]
    assert [(b.name, b.nbytes, b.tensor) for b in found.buffers] == [("sid_5", 576, "layer4")]
    assert not any("concatenate" in function.name for function in found.functions)
    assert found.calls[2].args[0].offset == 0  # it reads the inner result as a whole
    assert plan(found).by_name["sid_5"].first == 0


def test_each_concatenation_is_a_step_of_the_call_that_completes_it() -> None:
    found = lowered(nested(), "layer5")
    places = [[(step.tensor, step.place) for step in call.steps] for call in found.calls]
    assert places == [
        [("layer0", Output())],
        [("layer1", Output()), ("layer2", Around(0, 144))],
        [("layer3", Output()), ("layer4", Around(0, 288))],
        [("layer5", Output())],
    ]


def test_a_result_that_is_the_networks_output_is_the_callers() -> None:
    found = lowered(nested(), "layer4")
    assert written(found) == [("output", 0), ("output", 144), ("output", 288)]
    assert not found.buffers


def test_what_no_kernel_computes_is_copied() -> None:
    b = Builder(2)
    x = b.input(1, 2, 2, 3)
    a = b.conv(x, 3)
    b.node("concatenate", ConcatenateAttrs(1), a, x, b.int8(1, 1, 2, 3), a, b.conv(a, 3))
    found = lowered(b, b.nodes[-1].outputs[0])
    copies = [call for call in found.calls if call.steps[0].op == "copy"]
    assert [call.args[-1].offset for call in copies] == [0, 12, 24, 30]
    assert [call.steps[-1].op for call in found.calls].count("concatenate") == 1


def test_a_part_has_one_place() -> None:
    b = Builder(3)
    x = b.input(1, 2, 2, 3)
    first, second = b.conv(x, 3), b.conv(x, 3)
    one = b.node("concatenate", ConcatenateAttrs(1), first, second)
    other = b.node("concatenate", ConcatenateAttrs(1), second, b.conv(x, 3))
    found = lowered(b, b.conv(one, 2), b.conv(other, 2))
    assert [call.steps[0].tensor for call in found.calls if call.steps[0].op == "copy"] == [
        f"{other}#0"
    ]


@pytest.mark.parametrize("axis", [2, 3])
def test_parts_that_are_no_run_of_bytes_are_copied(axis: int) -> None:
    b = Builder(4)
    x = b.input(1, 3, 3, 2)
    b.node("concatenate", ConcatenateAttrs(axis), b.conv(x, 2), b.conv(x, 2))
    found = lowered(b, b.conv("layer2", 2))
    assert any("concatenate" in call.function for call in found.calls)


def test_the_first_part_may_lie_in_the_result_that_copies_it() -> None:
    b = Builder(5)
    x = b.input(1, 8, 8, 2)
    b.node("concatenate", ConcatenateAttrs(3), b.conv(x, 8), b.conv(x, 8))
    found = lowered(b, b.conv("layer2", 2, 1))
    (call,) = (call for call in found.calls if "concatenate" in call.function)
    assert [(pair.input, pair.lag) for pair in call.in_place] == [(0, 63 * 8 + 8)]
    made = plan(found)
    assert made.peak <= 2 * 8 * 8 * 8 + 8 * 8 * 8 + 32  # both inputs, and half of the result


def _shifted(found: Program) -> Iterator[Program]:
    """The program with another offset of each part."""
    for k, call in enumerate(found.calls):
        for position, argument in enumerate(call.args):
            if argument.storage is Storage.SID:
                for apart in (-144, -1, 1, 144):
                    args = list(call.args)
                    args[position] = replace(argument, offset=argument.offset + apart)
                    calls = list(found.calls)
                    calls[k] = replace(call, args=tuple(args))
                    yield replace(found, calls=tuple(calls))


def test_the_check_finds_every_wrong_offset() -> None:
    found = lowered(nested(), "layer5")
    assert list(parts_check.problems(found)) == []
    wrong = list(_shifted(found))
    assert len(wrong) == 4 * 5
    # A call that reads 144 bytes later, and still what is written, may be of another network.
    assert len([one for one in wrong if not list(parts_check.problems(one))]) <= 1


def test_the_check_finds_a_pair_with_a_part() -> None:
    found = lowered(nested(), "layer5")
    given = found.calls[-1].in_place
    assert given, "the last convolution may overwrite the whole result"
    calls = [replace(call, in_place=given) for call in found.calls]
    wrong = replace(found, calls=tuple(calls))
    sentence = "call 2 may overlap bytes 0..287 of sid_5, which are a part"
    assert sentence in parts_check.problems(wrong)


def _record(form: str, axis: int = 1) -> ScheduleRecord:
    """The schedule of the nested network with one form for its first concatenation."""
    parts = parts_of(nested(axis).graph("layer5"), "native")
    made = file.record(choose(parts, board.load("native").cpu, "speed", no_ram))
    functions = tuple(
        replace(f, choices=(replace(f.choices[0], form=form),))
        if f.choices[0].computes == ("layer2",)
        else f
        for f in made.functions
    )
    return replace(made, functions=functions)


def test_a_file_decides() -> None:
    parts = parts_of(nested().graph("layer5"), "native")
    cpu = board.load("native").cpu
    for form, calls in (("assembled", 4), ("specialised", 5)):
        given = _record(form)
        assert file.record(file.applied(given, parts, cpu)).functions == given.functions
        assert len(lowered(nested(), "layer5", given=given).calls) == calls


def test_a_file_cannot_assemble_what_is_no_run_of_bytes() -> None:
    parts = parts_of(nested(3).graph("layer5"), "native")
    given = _record("assembled", axis=3)
    with pytest.raises(UnsupportedError, match="--schedule: 'layer2' cannot be assembled"):
        file.applied(given, parts, board.load("native").cpu)


def compiled(seed: int, folder: Path, **options: Any) -> tuple[Compiled, list[list[Array]]]:
    """A random network, and inputs for it."""
    made, outputs = concat_networks.random(seed, "float32" if seed % 3 == 2 else "int8")
    model = folder / f"n{seed}.tflite"
    model.write_bytes(made.model(*outputs))
    found = microgen.compile_model(model, "native", name=f"n{seed}", **options)
    rng = np.random.default_rng(seed)
    kinds = [port.type for port in found.program.inputs]
    values = [[rng.integers(-128, 128, kind.shape) for kind in kinds] for _ in range(SAMPLES)]
    typed = [
        [array.astype(kind.dtype.numpy) for array, kind in zip(sample, kinds, strict=True)]
        for sample in values
    ]
    return found, typed


def expected(model: Path, inputs: list[list[Array]]) -> list[list[Array]]:
    """The outputs by the references, of the network in the file."""
    graph = passes.run(frontends.load(model))
    found = []
    for sample in inputs:
        values = evaluate(graph, dict(zip(graph.inputs, sample, strict=True)), registry())
        found.append([values[name] for name in graph.outputs])
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("first", range(0, 96, len(OPTIONS)))
def test_random_networks_equal_the_references(first: int, tmp_path: Path) -> None:
    made = {
        seed: compiled(seed, tmp_path, **OPTIONS[seed % len(OPTIONS)])
        for seed in range(first, first + len(OPTIONS))
    }
    built = program.build([found for found, _ in made.values()], tmp_path, SAMPLES)
    for index, (seed, (_, inputs)) in enumerate(made.items()):
        wanted = expected(tmp_path / f"n{seed}.tflite", inputs)
        for own, other in zip(built.run(index, inputs), wanted, strict=True):
            for array, values in zip(own, other, strict=True):
                np.testing.assert_allclose(array, values, rtol=1e-4, atol=1e-4, err_msg=f"{seed}")


def test_many_random_networks_are_assembled(tmp_path: Path) -> None:
    """So that the test above says something."""
    found = 0
    for seed in range(24):
        made, outputs = concat_networks.random(seed)
        model = tmp_path / "m.tflite"
        model.write_bytes(made.model(*outputs))
        calls = api.plan(model, "native", optimize="speed").program.calls
        found += any(argument.offset for call in calls for argument in call.args)
    assert found >= 8
