"""Generated projects on further boards of Zephyr, with profiles, and run by twister."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

import microgen
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.zephyr import workspace

workspace.skip_without_zephyr()
pytestmark = [NEEDS_NINJA, NEEDS_ARM]

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits_int8.tflite"
BOARDS = {
    "mps2_an521": "mps2_an521",
    "qemu_cortex_m3": "qemu_cortex_m3",
    "qemu_riscv32": "qemu_riscv32",
    "native_posix_64": "native",
}
PROFILE = "-DCONFIG_MICROGEN_PROFILE=y"


@pytest.mark.parametrize(
    "board", [pytest.param(b, marks=NEEDS_RISCV if "riscv" in b else ()) for b in BOARDS]
)
def test_a_board_gives_the_same_outputs_and_the_model_is_verified(
    board: str, tmp_path: Path
) -> None:
    project, folder = tmp_path / "p", tmp_path / "zephyr"
    microgen.generate(DIGITS, BOARDS[board], project)
    elf = workspace.built(project, folder, board)
    finished = workspace.run(folder, board)
    assert finished.ok, finished.output[-4000:]
    assert workspace.lines(finished.output) == workspace.lines(microgen.run(project).console)
    report = microgen.verify(project, elf=elf, scope="model", reproduce=True)
    assert (report.failed, report.scope) == ((), "model")
    reproduced = report.check("reproduce").status
    assert reproduced == ("n/a" if board.startswith("native") else "ok")


@pytest.mark.parametrize("options", [{}, {"executor": "graph"}, {"interface": "packed"}], ids=str)
def test_a_profile_has_the_cycles_of_each_layer(options: dict[str, str], tmp_path: Path) -> None:
    project, folder, board = tmp_path / "p", tmp_path / "zephyr", "mps2_an385"
    done = microgen.generate(DIGITS, board, project, **options)
    elf = workspace.built(project, folder, board, PROFILE)
    finished = workspace.run(folder, board)
    assert finished.ok, finished.output[-4000:]
    assert workspace.lines(finished.output) == workspace.lines(microgen.run(project).console)
    rows = re.findall(r"^microgen: +(\d+)/7 +(\d+)  (\w+) +(.*?)\r?$", finished.output, re.M)
    calls = done.program.calls
    assert [row[2:] for row in rows] == [(s.kernel, s.origin.layer) for c in calls for s in c.steps]
    assert [int(row[0]) for row in rows] == list(range(1, 8))
    cycles = [int(row[1]) for row in rows]
    assert f"sum {sum(cycles):14}" in finished.output
    counted = microgen.run(project, profile=True).instructions
    assert counted is not None
    # what docs/guides/zephyr.md says of such an ELF
    report = microgen.verify(project, elf=elf, scope="model")
    assert "runner" in [check.name for check in report.failed]


def twister(project: Path, out: Path, variables: dict[str, str], *more: str) -> tuple[bool, str]:
    """Whether twister succeeds, and the status of the one test."""
    path = f"{Path(str(shutil.which('west'))).parent}{os.pathsep}{os.environ['PATH']}"
    arguments = ["twister", "-p", "mps2_an385", "-T", project, "-O", out, *more]
    finished = workspace.west(arguments, "", {**variables, "PATH": path})
    (suite,) = json.loads((out / "twister.json").read_text())["testsuites"]
    return finished.ok, suite["status"]


def test_twister_runs_a_project_with_the_variant_of_the_document(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(DIGITS, "mps2_an385", project)
    good = workspace.compiler("mps2_an385")
    assert twister(project, tmp_path / "good", good, "--integration") == (True, "passed")
    other = {"ZEPHYR_TOOLCHAIN_VARIANT": "cross-compile", "CROSS_COMPILE": "arm-none-eabi-"}
    succeeded, status = twister(project, tmp_path / "other", other, "--integration")
    assert (succeeded, status) == (False, "error")  # without --integration it would be skipped
