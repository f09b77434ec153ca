"""Concatenations of many parts: the calls that write them, the checks of these calls, and what they
compute as C with sanitizers."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.compiler.lowering import runs
from microgen.graph.ir.graph import Array
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.planner import parts_check
from microgen.planner.program.steps import Around, NotStored
from microgen.planner.program.types import Program
from microgen.verifier.checks import parts
from tests.compiler.lowering.test_assembling import expected, lowered
from tests.differential import program
from tests.support import concat_networks
from tests.support.graphs import Builder

SAMPLES = 2
OPTIONS: list[dict[str, Any]] = [
    {"optimize": "speed"},
    {"optimize": "ram", "input_consumed": True},
    {"workspace_io": True},
    {"executor": "graph"},
    {"planner": "on-demand"},
    {"optimize": "flash", "output_workspace": True},
]


def joined(count: int) -> Program:
    """A network that joins channels of ``count`` convolutions."""
    b = Builder(1)
    x = b.input(1, 5, 4, 3)
    whole = b.node("concatenate", ConcatenateAttrs(3), *(b.conv(x, 2, 1) for _ in range(count)))
    return lowered(b, b.conv(whole, 4))


def model(folder: Path, name: str, axis: int, count: int, dtype: str) -> Path:
    """The same as a file, with a constant, a part that is joined twice, and the input as a part."""
    net = concat_networks.Network(count, dtype)
    x = net.input(1, 4, 5, 3)
    found = [net.conv(x, 3, 1) for _ in range(count - 4)]
    found = [x, *found[:3], net.constant(1, 4, 5, 3), *found[3:], found[0], found[1]]
    path = folder / f"{name}.tflite"
    path.write_bytes(net.model(net.pool(net.concat(found, axis))))
    return path


def test_calls_have_at_most_16_parts() -> None:
    for count, calls in ((16, 1), (17, 2), (32, 2), (50, 4)):
        found = joined(count).calls[count:-1]
        assert len(found) == calls
        assert all(len(call.args) <= runs.MOST + 1 for call in found)
        assert sum(len(call.args) - 1 for call in found) == count
        assert [call.run is not None for call in found] == [calls > 1] * calls


def test_equal_runs_are_one_function() -> None:
    found = joined(50).calls[50:54]
    assert len({call.function for call in found}) == 2
    assert [call.args[-1].offset for call in found] == [0, 32, 64, 96]
    assert all(isinstance(call.steps[0].place, NotStored) for call in found[:-1])
    assert found[-1].steps[0].place == Around(0, 96)


def test_the_check_finds_every_wrong_run() -> None:
    found = joined(40)
    assert list(parts_check.problems(found)) == []
    for index in (40, 41, 42):
        for apart in (-32, -1, 1, 32):
            calls = list(found.calls)
            last = calls[index].args[-1]
            moved = replace(last, offset=last.offset + apart)
            calls[index] = replace(calls[index], args=(*calls[index].args[:-1], moved))
            assert list(parts_check.problems(replace(found, calls=tuple(calls)))), (index, apart)
        assert list(parts_check.problems(_without(found, index)))


def _without(found: Program, index: int) -> Program:
    return replace(found, calls=(*found.calls[:index], *found.calls[index + 1 :]))


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[4]])
def test_verify_finds_every_wrong_run(options: dict[str, Any], tmp_path: Path) -> None:
    path = model(tmp_path, "m", 3, 40, "int8")
    module = microgen.compile_model(path, "native", **options).manifest
    assert list(parts.problems(module)) == []
    numbers = [call.index for call in module.calls if call.run]
    assert len(numbers) == 3
    for number in numbers:
        run = module.calls[number].run
        assert run is not None
        for name in ("rows", "nbytes", "pitch", "offset"):
            for apart in (-1, 1, 3):
                changed = replace(run, **{name: getattr(run, name) + apart})
                calls = list(module.calls)
                calls[number] = replace(calls[number], run=changed)
                assert list(parts.problems(replace(module, calls=tuple(calls)))), (name, apart)


def test_firmware_equals_the_references(tmp_path: Path) -> None:
    shapes = [(3, 37, "int8"), (2, 18, "float32"), (1, 33, "int8"), (3, 17, "float32")]
    cases = [(*shape, options) for shape, options in zip(cycle(shapes), OPTIONS, strict=False)]
    models, made = [], []
    for number, (axis, count, dtype, options) in enumerate(cases):
        models.append(model(tmp_path, f"n{number}", axis, count, dtype))
        made.append(microgen.compile_model(models[-1], "native", name=f"n{number}", **options))
    built = program.build(made, tmp_path, SAMPLES)
    for index, found in enumerate(made):
        inputs = _inputs(found.program, index)
        wanted = expected(models[index], inputs)
        for own, other in zip(built.run(index, inputs), wanted, strict=True):
            for array, values in zip(own, other, strict=True):
                np.testing.assert_allclose(array, values, rtol=1e-4, atol=1e-4, err_msg=f"{index}")


def _inputs(found: Program, seed: int) -> list[list[Array]]:
    rng = np.random.default_rng(seed)
    kinds = [port.type for port in found.inputs]
    return [
        [rng.integers(-128, 128, kind.shape).astype(kind.dtype.numpy) for kind in kinds]
        for _ in range(SAMPLES)
    ]
