"""Devices in firmware under QEMU: whole sequences of hooks and operators; each hook fails once."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.base.errors import RunError
from microgen.building import builder
from microgen.graph.ir.graph import Graph
from microgen.interface import inspection
from microgen.options import Options
from microgen.planner.program.types import Program
from tests.devices import hooked, sequences
from tests.devices.networks import BOTH, NPU, chain, dividing, placed
from tests.support.compiling import write_project
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]


def _built(graph: Graph, folder: Path, board: str, *targets: str) -> tuple[Program, Path]:
    """The network's firmware, whose operators print that they run."""
    program = write_project(graph, folder, Options(targets=targets), board)
    operators = next(folder.rglob("default_lib1.c"))
    text = operators.read_text()
    said = r'\1    mg_io_print("microgen: operator \2\\n");\n'
    text = re.sub(r"(int32_t (\w+)\([^)]*\)\n\{\n)", said, text)
    operators.write_text(text.replace("#include", '#include "platform/io.h"\n#include', 1))
    builder.build(folder)
    return program, folder


# The second project has more devices, and all that the first one has.
@pytest.fixture(scope="module", params=[pytest.param("one", marks=pytest.mark.slow), "two"])
def firmware(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Program, Path]:
    folder = tmp_path_factory.mktemp(request.param) / "p"
    if request.param == "one":
        return _built(chain("", "npu0", "npu0", "", "npu0/f"), folder, "mps2_an385", NPU)
    graph = chain("npu1", "", "npu0", "dsp", "npu1/g", "npu1/g")
    return _built(graph, folder, "mps2_an386", "npu0:device-api", "dsp", "npu1:device-api")


def test_the_whole_sequence(firmware: tuple[Program, Path], tmp_path: Path) -> None:
    program, project = firmware
    called, status = hooked.run(project, {}, tmp_path)
    assert status == 0
    assert called == hooked.expected(program, {})[0]
    active = [d.target for d in program.devices]
    assert called[: len(active)] == [f"{name} Activate" for name in active]
    assert called[-len(active) :] == [f"{name} Deactivate" for name in reversed(active)]


def test_each_hook_made_to_fail_in_turn(firmware: tuple[Program, Path], tmp_path: Path) -> None:
    program, project = firmware
    count = len(list(sequences.hooks(hooked.expected(program, {})[0])))
    for number in range(1, count + 1):
        failing = {number: 100 + number}
        found = hooked.run(project, failing, tmp_path)
        assert found == hooked.expected(program, failing)
        assert found[1] == 100 + number


def test_several_hooks_that_fail(firmware: tuple[Program, Path], tmp_path: Path) -> None:
    program, project = firmware
    last = len(program.devices)
    for failing in ({3 + last: 9, 4 + last: -8}, {last: 5, last + 1: 6}, {4: -3, 5: 1, 6: 2}):
        assert hooked.run(project, failing, tmp_path) == hooked.expected(program, failing)


def test_verify_passes_and_bounds_the_stack_with_hooks(tmp_path: Path) -> None:
    write_project(chain("npu0", ""), tmp_path / "p", Options(targets=(NPU,)), "mps2_an386")
    # verifies before the run, and again with the stack that the run used
    result = microgen.run(tmp_path / "p")
    stack = result.checks.check("stack")
    assert stack.status == "ok"
    assert "mg_tracing_device_hook" in stack.found
    assert result.checks.check("device_hooks").status == "ok"
    assert result.console.count("microgen: device npu0") == 4


def test_a_hook_that_is_not_linked_is_found(tmp_path: Path) -> None:
    write_project(chain("npu0"), tmp_path / "p", Options(targets=(NPU,)), "mps2_an386")
    built = builder.build(tmp_path / "p").elf
    broken = tmp_path / "broken.elf"
    command = ["arm-none-eabi-objcopy", "--strip-symbol=TVMDeviceNpu0Close"]
    subprocess.run([*command, str(built), str(broken)], check=True)
    report = microgen.verify(tmp_path / "p", elf=broken)
    assert [check.name for check in report.failed] == ["runner", "device_hooks", "layout"]
    assert "0 symbols are named TVMDeviceNpu0Close" in report.check("device_hooks").found


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (("npu0",), ["Activate", "Open", "operator", "Close", "Deactivate"]),
        (("", "npu0"), ["Activate", "operator", "Deactivate"]),
    ],
)
def test_an_operator_that_fails_is_cleaned_up_after(
    places: tuple[str, ...], expected: list[str], tmp_path: Path
) -> None:
    """A division by zero fails on the device, and on the host while the device is active."""
    _, project = _built(dividing(*places), tmp_path / "p", "mps2_an386", NPU)
    called, status = hooked.run(project, {}, tmp_path)
    assert [what.split(" ")[-1] if " " in what else "operator" for what in called] == expected
    assert status == 0x0803  # kTvmErrorFunctionCallInvalidArg
    hooks = list(sequences.hooks(called))
    for number in range(2, len(hooks) + 1):
        failed = hooked.run(project, {number: 77}, tmp_path)[1]
        assert failed == (77 if hooks[number - 1].endswith("Open") else 0x0803)


def test_the_error_is_what_a_run_reports(tmp_path: Path) -> None:
    write_project(dividing("npu0"), tmp_path / "p", Options(targets=(NPU,)), "mps2_an386")
    with pytest.raises(RunError, match="2051"):
        microgen.run(tmp_path / "p")


def _on_devices(graph: Graph) -> Graph:
    """The graph with its nodes on the host and two devices in turn."""
    places = ["", "npu0", "npu1"]
    return placed(graph, [places[i % 3] for i in range(len(graph.nodes))])


def test_a_model_on_devices_compares_with_the_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = frontends.graph_of
    monkeypatch.setattr(frontends, "graph_of", lambda *given: _on_devices(read(*given)))
    project = tmp_path / "p"
    microgen.generate(SMALL, "mps2_an386", project, targets=BOTH)
    result = microgen.run(project, compare=True, profile=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert result.per_call is not None
    assert np.all(np.array(result.per_call[0]) > 0)
    found = inspection.inspect(project)
    targets = {call["target"]: call["device"] for call in found.data["calls"]}
    assert targets == {"": "", "npu0": "npu0", "npu1": "npu1"}
    record = json.loads((project / "microgen.json").read_text())
    assert [d["name"] for d in record["devices"]] == ["npu0", "npu1"]
    assert record["devices"][1]["hooks"][2] == "TVMDeviceNpu1Close"
