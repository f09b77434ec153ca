"""Declarations of targets, and errors of those who ask for one that is not declared."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Graph
from microgen.interface.commands import compiling
from microgen.options import Options
from microgen.target import targets
from microgen.target.targets import HOST, Target
from tests.devices.networks import NPU, chain
from tests.support.compiling import program_of


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("npu0", Target("npu0", 12, False)),
        ("ethos-u:device-api", Target("ethos-u", 12, True)),
        ("dsp:device-type=1", Target("dsp", 1, False)),
        ("a.b_c:device-api:device-type=16", Target("a.b_c", 16, True)),
    ],
)
def test_a_declaration(text: str, target: Target) -> None:
    (found,) = targets.parse([text])
    assert found == target
    assert targets.parse([str(found)]).declared == (found,)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["c"], "is the host"),
        ([""], "cannot name a target"),
        (["1npu"], "cannot name a target"),
        (["npu0:fast"], "'fast' is not an option"),
        (["npu0:device-type"], "not a device type"),
        (["npu0:device-type=5"], "'5' is not a device type of DLPack .*12 ext_dev"),
        (["npu0:device-type=-1"], "not a device type"),
        (["npu0:device-type=1:device-type=2"], "is given twice"),
        (["npu0:device-api:device-api"], "is given twice"),
        (["npu0", "npu0:device-api"], "declared twice"),
    ],
)
def test_a_declaration_that_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(MicrogenError, match=message):
        Options(targets=tuple(texts))


def test_devices_are_the_hosts_and_the_first_declared() -> None:
    known = targets.parse(["dsp:device-type=1", "npu0", "npu1", "gpu:device-type=2"])
    assert known.kinds == {1: "c", 12: "npu0", 2: "gpu"}
    assert known.by_kind("dsp").device_type == 1
    assert known.by_kind("") is HOST


def test_annotations_of_devices_in_a_model_are_resolved_by_the_declared_targets(
    tmp_path: Path,
) -> None:
    model = tmp_path / "m.relay"
    model.write_text(
        "def @main(%x: Tensor[(2), float32]) {\n"
        "  %0 = on_device(tanh(%x), device_type=16);\n"
        "  add(%0, %x)\n}\n"
    )
    done = microgen.compile_model(model, board="native", targets=("npu0", "dsp:device-type=16"))
    assert [call.target for call in done.manifest.calls] == ["dsp", ""]
    with pytest.raises(MicrogenError, match="No target is provided for device hexagon"):
        microgen.compile_model(model, board="native", targets=("npu0",))


def test_a_node_of_a_target_that_nobody_declared_is_named() -> None:
    with pytest.raises(
        MicrogenError, match=r'layer "layer1".*no target is declared for .npu9.*--target npu9'
    ):
        program_of(chain("", "npu9"), Options(targets=("npu0",)))


def test_the_command_line_takes_targets_in_order() -> None:
    parser = argparse.ArgumentParser()
    compiling.add_planning(parser)
    arguments = parser.parse_args(["--target", "b:device-api", "--target", "a"])
    options = Options(**compiling.selected(arguments))
    assert [str(t) for t in options.target_map] == [
        "b:device-type=12:device-api",
        "a:device-type=12",
    ]


def test_targets_without_declarations_are_none() -> None:
    assert not tuple(targets.NO_TARGETS)


@pytest.mark.parametrize(
    ("kinds", "shared"),
    [
        (("npu-0", "npu_0"), "npu_0"),
        (("npu-0", "npu0"), "TVMDeviceNpu0Activate"),
        (("NPU0", "npu0"), "TVMDeviceNpu0Activate"),
    ],
)
def test_devices_whose_names_collide_are_refused(kinds: tuple[str, str], shared: str) -> None:
    declared = tuple(f"{kind}:device-api" for kind in kinds)
    with pytest.raises(MicrogenError, match=f"would share '{shared}'"):
        program_of(chain(*kinds), Options(targets=declared))
    plain = program_of(chain(*kinds), Options(targets=kinds))
    assert not plain.devices


def test_digits_stay_in_the_names_of_hooks() -> None:
    """TVM drops them, so npu0 and npu1 have the same hooks."""
    declared = ("npu0:device-api", "npu1:device-api", "ethos-u55:device-api")
    program = program_of(chain("npu0", "npu1", "ethos-u55"), Options(targets=declared))
    assert [d.activate for d in program.devices] == [
        "TVMDeviceNpu0Activate",
        "TVMDeviceNpu1Activate",
        "TVMDeviceEthosU55Activate",
    ]
    assert [d.name for d in program.devices] == ["npu0", "npu1", "ethos_u55"]


def _with_input(name: str) -> Graph:
    graph = chain("npu0")
    (node,) = graph.nodes
    node = dataclasses.replace(node, inputs=(name, *node.inputs[1:]))
    types = {name if n == "input0" else n: kind for n, kind in graph.types.items()}
    return graph.replace(inputs=(name,), nodes=(node,), types=types)


def test_a_context_gives_way_to_an_input_of_its_name() -> None:
    program = program_of(_with_input("device_context_npu0"), Options(targets=(NPU,)))
    assert program.inputs[0].name == "device_context_npu0"
    assert program.devices[0].context == "device_context_npu0_1"


def test_an_input_named_as_a_hook_is_refused() -> None:
    with pytest.raises(MicrogenError, match="the name of a hook of 'npu0', TVMDeviceNpu0Open"):
        program_of(_with_input("TVMDeviceNpu0Open"), Options(targets=(NPU,)))
