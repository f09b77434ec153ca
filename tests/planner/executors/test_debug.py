"""examples/digits/graph_debug.c times every node, on the host and on a board."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import microgen
from microgen.building import toolchain
from microgen.target import board as boards
from microgen.verifier import verify
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = NEEDS_NINJA
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "digits"


def _console(project: Path, board: str) -> str:
    elf = project / "build" / "firmware.elf"
    qemu = boards.load(board).qemu
    options = ["-display", "none", "-semihosting-config", "enable=on,target=native", "-kernel"]
    command = [] if qemu is None else [qemu.system, "-M", qemu.machine, *qemu.args, *options]
    finished = toolchain.run([*command, elf], seconds=60, cwd=project)
    assert finished.ok, finished.output
    return finished.output


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", ["native", pytest.param("mps2_an386", marks=NEEDS_ARM)])
def test_the_example_prints_the_time_of_every_node(board: str, tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(EXAMPLES / "digits_int8.tflite", board, project, executor="graph")
    shutil.copy(EXAMPLES / "graph_debug.c", project / "src" / "main.c")
    microgen.build(project)
    console = _console(project, board)
    graph = json.loads((project / "model/executor-config/graph/default.graph").read_text())
    nodes = [node for node in graph["nodes"] if node["op"] != "null"]
    times = dict(re.findall(r"^(\w+) (\d+)\r?$", console, re.MULTILINE))
    assert times.pop("status") == "0"
    assert list(times) == [node["name"] for node in nodes]
    called = [node["name"] for node in nodes if node["attrs"]["func_name"] != "__nop"]
    assert any(int(times[name]) > 0 for name in called)
    assert all(int(time) < 10_000_000 for time in times.values())
    assert times["reshape_nop"] == "0"
    report = verify(project, project_files=False)
    # The firmware lacks tvmgen_default_run, and does not compute with doubles in software.
    assert {check.name for check in report.failed} <= {"run_symbol"}, report.to_text()
