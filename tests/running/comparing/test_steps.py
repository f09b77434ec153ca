"""``run`` keeps every layer of a function that computes several: it compares those that it can read
and names the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base.output.text_layout import lines
from microgen.building import builder
from microgen.interface import api
from microgen.interface.api import RunResult
from microgen.interface.commands import run as command
from microgen.planner.program.steps import InnerBuffer, Output
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from microgen.running.runner import samples
from microgen.running.runner.compare import Comparison, Unseen
from tests.support import fused_layers
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_CC, NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_GDBSERVER]

# The first six layers of the digits network. Their buffers have 1,024 bytes, except the pool's.
LAYERS = (
    *("conv1/Relu", "block/depthwise/Relu", "block/pointwise/BiasAdd", "block/add/Relu"),
    *("pool/AvgPool", "dense/BiasAdd"),
)
HIDDEN = {"conv1/Relu": "pool/AvgPool", "block/depthwise/Relu": "block/add/Relu"}
CONVENTIONS: dict[str, dict[str, Any]] = {
    "c": {},
    "packed": {"interface": "packed"},
    "graph": {"executor": "graph"},
}


def _generated(folder: Path, monkeypatch: pytest.MonkeyPatch, count: int, **options: Any) -> Path:
    fused_layers.fuse(monkeypatch, count)
    board = options.pop("board", "native")
    compiled = microgen.generate(DIGITS, board, folder / "p", **options)
    assert [len(call.steps) for call in compiled.program.calls] == [count, *[1] * (7 - count)]
    return folder / "p"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_inner_buffers_are_compared(
    convention: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project = _generated(tmp_path, monkeypatch, 4, **CONVENTIONS[convention])
    found = microgen.run(project, compare=True)
    assert found.checks.ok, found.checks.to_text()
    numpy = found.verdicts[0]
    assert numpy.ok
    assert "; all 7 layers equal" in str(numpy)
    assert numpy.layers is not None
    assert [(one.call, one.layer) for one in numpy.layers.held[:5]] == [
        *((0, layer) for layer in LAYERS[:4]),
        (1, "pool/AvgPool"),
    ]
    assert numpy.to_json()["unseen"] == []


def test_all_outputs_of_a_function_are_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The sum reads the first and the third of the layers that are one function."""
    project = _generated(tmp_path, monkeypatch, 3)
    (call, *_) = microgen.base.manifest.load(project).calls
    outputs = [step.argument for step in call.steps if step.argument is not None]
    assert [call.args[position].storage for position in outputs] == ["sid", "scratch", "sid"]
    assert "; all 7 layers equal" in str(microgen.run(project, compare=True).verdicts[0])


@pytest.fixture
def six(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A project with six layers in one function. Two of them are overwritten in it."""
    return _generated(tmp_path, monkeypatch, 6)


def test_a_layer_that_is_overwritten_is_not_compared_and_named(six: Path) -> None:
    verdict = microgen.run(six, compare=True).verdicts[0]
    assert verdict.ok
    assert "; 5 of 7 layers equal; not seen: " in str(verdict)
    unseen = verdict.to_json()["unseen"]
    assert [(one["call"], one["layer"], one["tensor"]) for one in unseen] == [
        (0, layer, layer) for layer in HIDDEN
    ]
    for one, by in zip(unseen, HIDDEN.values(), strict=True):
        why = f'layer "{by}" overwrites it in the same function'
        assert one["why"] == why
        assert f'layer "{one["layer"]}" ({why})' in str(verdict)


def _broken(project: Path, after: str, statement: str) -> Verdict:
    """The first verdict with ``statement`` inserted after the call of the kernel that writes to
    ``after`` in the function of several layers."""
    source = project / "model/codegen/host/src/default_lib1.c"
    text = source.read_text()
    at = text.index(");\n", text.index(after)) + 3
    source.write_text(f"{text[:at]}{statement}\n{text[at:]}")
    elf = builder.build(project).elf
    ports = microgen.base.manifest.load(project).inputs
    inputs = {p.tensor: np.zeros((1, *p.shape), np.int8) for p in ports}
    outputs = microgen.running.runner.run(project, inputs, elf=elf).outputs
    return compare.compare(project, inputs, outputs, elf)[0]


def test_an_error_in_an_inner_buffer_is_found_and_named(six: Path) -> None:
    """The pointwise layer's result is at 2048, and stays there."""
    found = _broken(six, "(int8_t *)&scratch[2048]", "    ((int8_t *)scratch)[2048 + 17] ^= 1;")
    assert found.difference is not None
    assert (found.difference.call, found.difference.layer) == (0, "block/pointwise/BiasAdd")
    assert (found.difference.index, found.difference.differing) == ((0, 0, 1, 1), 1)


def test_an_error_in_a_layer_that_is_not_seen_is_found_in_the_next(six: Path) -> None:
    """The depthwise layer's result is at 1024 until the sum overwrites it."""
    found = _broken(six, "(int8_t *)&scratch[1024]", "    ((int8_t *)scratch)[1024 + 17] ^= 127;")
    assert found.difference is not None
    assert found.difference.layer == "block/pointwise/BiasAdd"
    assert "not seen: " in str(found)


def test_the_places_of_the_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fused_layers.fuse(monkeypatch, 6)
    program, *_ = api.plan(DIGITS, "native")
    places = {step.origin.layer: step.place for step in program.calls[0].steps}
    assert tuple(places) == program.calls[0].layers == LAYERS
    assert places["conv1/Relu"] == InnerBuffer(0, "pool/AvgPool")
    assert places["block/depthwise/Relu"] == InnerBuffer(1024, "block/add/Relu")
    assert places["block/pointwise/BiasAdd"] == InnerBuffer(2048)
    assert places["block/add/Relu"] == InnerBuffer(1024)
    assert places["pool/AvgPool"] == InnerBuffer(0)
    assert places["dense/BiasAdd"] == Output(0)
    # Each constant is of the layer that reads it.
    origins = {c.name: c.origin for c in program.constants}
    assert set(origins.values()) == {
        *LAYERS[:3],
        "dense/BiasAdd",
        "probabilities",  # the exponentials of its softmax
    }


@NEEDS_ARM
@NEEDS_CC
def test_the_profile_lists_every_layer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project = _generated(tmp_path, monkeypatch, 6, board="mps2_an386")
    record = microgen.base.manifest.load(project)
    found: RunResult = microgen.run(project, samples.zeros(record), profile=True, compare=True)
    (table,) = command.profile_tables(found, record)
    rows = [line.split() for line in lines([table], 200)]
    assert [row[0] for row in rows[1:]] == ["1", *LAYERS[1:], "2", "runner", "inference"]
    kernels = [step.kernel for step in record.calls[0].steps]
    assert [row[1] for row in rows[2:7]] == kernels[1:]
    assert rows[1][1:3] == [LAYERS[0], kernels[0]]
    assert found.per_call is not None
    assert rows[1][3] == f"{found.per_call[0][0]:,}"
    data = command._data(found, record, same=True)
    assert [[step["layer"] for step in call] for call in data["steps"]] == [
        [*LAYERS],
        ["probabilities"],
    ]
    assert found.verdicts[0].ok
    assert "5 of 7 layers equal" in str(found.verdicts[0])


def test_the_text_names_some_layers_for_each_reason() -> None:
    unseen = tuple(Unseen(0, f"a{i}", "t", "it is far away") for i in range(5))
    layers = Comparison((), (), None, (*unseen, Unseen(1, "b", "t", "it is late")))
    assert str(Verdict("numpy", 1, 1, layers)).endswith(
        '; not seen: layer "a0", layer "a1", layer "a2" and 2 more (it is far away), '
        'layer "b" (it is late)'
    )
    reasons = [replace(one, why=f"reason {i}") for i, one in enumerate(layers.unseen)]
    text = str(Verdict("numpy", 1, 1, replace(layers, unseen=tuple(reasons))))
    assert text.endswith(', layer "a2" (reason 2) and 3 more')
