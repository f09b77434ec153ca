"""Devices together with memory pools. In TVM v0.14 a pool and a device change places there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.building import builder
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.options import Options
from microgen.running import runner
from tests.devices.networks import BOTH, chain
from tests.support.compiling import by_port, write_project
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = NEEDS_NINJA
PLACES = ("npu1", "", "npu0/f", "npu0/f", "npu1", "")
SETTINGS = {
    "outside": (False, ("dram:*:external",)),
    "inside and outside": (False, ("a:20", "dram:*:external", "flash:*:external:const")),
    "inputs and outputs in an inner one": (True, ("a:*",)),
    "inputs and outputs in an outer one": (True, ("dram:*:external",)),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("setting", SETTINGS)
def test_firmware_with_both_computes_what_the_reference_does(setting: str, tmp_path: Path) -> None:
    workspace_io, pools = SETTINGS[setting]
    options = Options(targets=BOTH, pool=pools, workspace_io=workspace_io)
    graph = chain(*PLACES)
    program = write_project(graph, tmp_path / "p", options)
    built = builder.build(tmp_path / "p", sanitize=True)
    data = np.random.default_rng(1).integers(-128, 128, (1, 3, 3, 2)).astype(np.int8)
    found = runner.run(tmp_path / "p", {"input0": data}, elf=built.elf)
    values = evaluate(graph, {"input0": data}, registry())
    for name, expected in by_port(program, graph, values).items():
        np.testing.assert_array_equal(found.outputs[name], expected)
    assert re.findall(r"device (npu\d \w+)", found.console) == [
        *("npu0 Activate", "npu1 Activate", "npu1 Open", "npu1 Close", "npu0 Open", "npu0 Close"),
        *("npu1 Open", "npu1 Close", "npu1 Deactivate", "npu0 Deactivate"),
    ]


def test_parameters_are_inputs_outputs_pools_devices_everywhere(tmp_path: Path) -> None:
    pools = ("a:20", "dram:*:external", "flash:*:external:const")
    write_project(chain(*PLACES), tmp_path / "p", Options(targets=BOTH, pool=pools))
    source = next((tmp_path / "p").rglob("default_lib0.c")).read_text()
    (declared,) = set(re.findall(r"___tvm_main__\((\s*\w[^)]* \*[^)]*)\)", source))
    names = re.findall(r"\*(\w+)", declared)
    contexts = ["device_context_npu0", "device_context_npu1"]
    assert names[:2] == ["input0", "output"]
    assert ["dram" in names[2], "flash" in names[3], names[4:]] == [True, True, contexts]
    (passed,) = re.findall(r"status = tvmgen_default___tvm_main__\(([^)]*)\);", source)
    assert re.split(r",\s+", passed.strip()) == [
        *("inputs->input0", "outputs->output", "workspace_pools->dram", "workspace_pools->flash"),
        *("devices->npu0", "devices->npu1"),
    ]
    header = next((tmp_path / "p").rglob("tvmgen_default.h")).read_text()
    kinds = re.findall(r"^struct tvmgen_default_(\w+) \{", header, re.M)
    assert kinds == ["inputs", "outputs", "devices", "workspace_pools"]
    run = header[header.index("int32_t tvmgen_default_run(") :]
    order = re.findall(r"\*(\w+),?\n", run.split(");")[0])
    assert order == ["inputs", "outputs", "workspace_pools", "devices"]


@NEEDS_ARM
def test_a_board_runs_both(tmp_path: Path) -> None:
    options = Options(targets=BOTH, pool=("dram:*:external",))
    write_project(chain(*PLACES), tmp_path / "p", options, "mps2_an386")
    result = microgen.run(tmp_path / "p")  # after it was verified
    assert result.console.count("microgen: device") == 10
