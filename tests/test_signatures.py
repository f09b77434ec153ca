"""Files with several networks: ``--signature`` names one, which becomes the firmware."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError
from microgen.interface import api, inspection
from microgen.interface.cli import main
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.streaming import Model
from tests.support.tflite_builder import OperatorSpec, SubgraphSpec
from tests.support.tools import NEEDS_NINJA

SHAPE = (1, 4)


def _networks() -> bytes:
    """``serving_default`` is a RELU of one input. ``total`` has two inputs, in another order than
    in its signature, and adds both to a variable."""
    first = Model()
    first.outputs = [first.add("RELU", [first.input("x", SHAPE)], first.tensor("y", SHAPE))]
    first.variables["v"] = np.array([[1, 2, 3, 4]], np.int8)
    second = Model()
    a, b = second.input("a", SHAPE), second.input("b", SHAPE, quant=(0.2, 3))
    handle = second.handle("v")
    both = second.add("ADD", [a, b], second.tensor("both", SHAPE), "AddOptions")
    old = second.read(handle, "old", a)
    new = second.add("ADD", [old, both], second.tensor("z", SHAPE), "AddOptions")
    second.assign(handle, new)
    call = OperatorSpec("CALL_ONCE", [], [], "CallOnceOptions", {"initSubgraphIndex": 1})
    total = SubgraphSpec(second.tensors, [call, *second.operators], ["b", "a"], ["z"], "total")
    return first.to_bytes(more=[first.init(), total])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "m.tflite").write_bytes(_networks())
    return tmp_path / "m.tflite"


@NEEDS_NINJA
@needs_litert
def test_a_signature_becomes_firmware(model: Path, tmp_path: Path) -> None:
    project = tmp_path / "p"
    arguments = ["generate", str(model), "-b", "native", "-o", str(project)]
    assert main([*arguments, "--signature", "total"]) == 0
    assert json.loads((project / "microgen.json").read_text())["options"]["signature"] == "total"
    microgen.build(project)
    rng = np.random.default_rng(1)
    samples = {n: rng.integers(-128, 128, (6, *SHAPE)).astype(np.int8) for n in "ab"}
    result = microgen.run(project, samples, compare=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert not any(verdict.is_skipped for verdict in result.verdicts)
    assert [
        port.tensor
        for port in microgen.compile_model(model, "native", signature="total").program.inputs
    ] == ["b", "a"]


@NEEDS_NINJA
def test_a_project_is_reproduced_with_its_signature(model: Path, tmp_path: Path) -> None:
    microgen.generate(model, "native", tmp_path / "p", signature="total")
    microgen.build(tmp_path / "p")
    report = microgen.verify(tmp_path / "p", reproduce=True)
    assert report.ok, [check for check in report.checks if check.status == "failed"]


def test_commands_that_read_a_model_know_signatures(model: Path) -> None:
    assert inspection.inspect(model).data["outputs"].keys() == {"y"}
    assert inspection.inspect(model, signature="total").data["outputs"].keys() == {"z"}
    program, *_ = api.plan(model, "native", signature="total")
    assert [buffer.tensor for buffer in program.state] == ["old"]
    regions = api.partition(model, "native", signature="total").partition.regions
    assert [region.main.op for region in regions][:2] == ["add", "add"]


def test_other_formats_have_no_signatures(tmp_path: Path) -> None:
    path = tmp_path / "m.relay"
    path.write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 4), int8]) { nn.relu(%x) }\n')
    with pytest.raises(MicrogenError, match=r"has no signatures: \.relay files have one"):
        api.plan(path, "native", signature="total")
