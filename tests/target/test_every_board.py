"""Boards that other tests do not run MLPerf Tiny's networks on: built, verified, and run where QEMU
has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import microgen
from microgen.base import resources
from microgen.base.errors import ToolError
from microgen.target import board as boards
from microgen.target import projects
from tests.qemu.test_mlperf_tiny import HELD
from tests.support.minimal_project import BUILT_HERE, without_machine
from tests.support.places import DIGITS, ROOT, SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, needs

# tests/target/test_boot_blocks.py builds the boards with boot blocks.
OTHERS = sorted(name for name in set(BUILT_HERE) - set(HELD) if not boards.load(name).boot)
# The slow run has convolutions, too, which tests/target/test_cores.py compiles for each core.
NETWORK = SMALL if "TESTS_BUILD_QUICKLY" in os.environ else DIGITS


def test_there_are_many_boards_of_every_kind() -> None:
    found = [boards.load(name) for name in boards.available()]
    assert len(found) >= 31
    assert set(HELD) < set(boards.available())
    cores = {board.cpu.name for board in found}
    assert {"cortex-m0plus", "cortex-m7f-sp", "cortex-m33-nodsp-nofp", "cortex-m33"} < cores


def _cases() -> list[object]:
    found = [boards.load(name) for name in OTHERS]
    return [pytest.param(b, id=b.name, marks=needs(f"{b.toolchain}gcc")) for b in found]


@pytest.mark.sampled(2)
@NEEDS_NINJA
@pytest.mark.parametrize("board", _cases())
def test_its_firmware_is_verified_and_run_where_there_is_an_emulator(
    board: boards.Board, tmp_path: Path
) -> None:
    project = tmp_path / "p"
    microgen.generate(NETWORK, board.name, project)
    missing = without_machine(board)
    if board.qemu is None or missing:
        report = microgen.verify(project)  # builds it
        assert report.ok
        assert report.check("sections_fit").status == "ok"
        if missing:
            pytest.skip(f"verified, but not run: {missing}")
        return
    ran = microgen.run(project, compare=True)  # verifies, too
    assert ran.checks.check("stack").values["used"] == ran.stack > 0
    assert [v for v in ran.verdicts if not v.is_skipped]
    assert all(v.ok or v.is_skipped for v in ran.verdicts)


@NEEDS_ARM
def test_an_emulator_without_the_machine_is_named(tmp_path: Path) -> None:
    path = tmp_path / "desk" / "board.yml"
    path.parent.mkdir()
    text = _text("mps2_an386").replace("mps2-an386", "mps9-an999")
    path.write_text(text)
    microgen.generate(SMALL, path, tmp_path / "p")
    with (
        projects.given(path),
        pytest.raises(ToolError, match="this qemu-system-arm has no machine mps9-an999, so it"),
    ):
        microgen.run(tmp_path / "p")
    assert not (tmp_path / "p" / "build").exists()


def _text(board: str) -> str:
    return (resources.folder("boards") / board / "board.yml").read_text()


# `microgen boards --new` in this repository adds boards, which are the user's.
SHIPPED = [name for name in boards.available() if not _text(name).startswith("# Written by")]


@pytest.mark.parametrize("board", SHIPPED)
def test_its_file_says_where_its_memories_are_from(board: str) -> None:
    """The comment names the board's or the microcontroller's document."""
    text = _text(board)
    said = text.partition("\ntitle:")[0]
    named = ("RM0", "Arm DAI", "Arm 10", "specification", "data sheet", "manual", "UG0", "QEMU doc")
    assert any(name in said for name in named) or board == "native"
    assert board in (ROOT / "docs" / "reference" / "boards.md").read_text()
