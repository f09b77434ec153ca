"""Boards that other tests do not run MLPerf Tiny's networks on: built, verified, and run where QEMU
has them."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen import resources
from microgen.target import board as boards
from tests.minimal_project import board_params
from tests.places import DIGITS, ROOT
from tests.qemu.test_mlperf_tiny import HELD
from tests.tools import NEEDS_NINJA

OTHERS = sorted(set(boards.available()) - set(HELD))


def test_there_are_many_boards_of_every_kind() -> None:
    found = [boards.load(name) for name in boards.available()]
    assert len(found) >= 24
    assert set(HELD) < set(boards.available())
    cores = {board.cpu.name for board in found}
    assert {"cortex-m0plus", "cortex-m7f-sp", "cortex-m33-nodsp-nofp", "cortex-m33"} < cores


@NEEDS_NINJA
@pytest.mark.parametrize("board", board_params(*OTHERS))
def test_its_firmware_is_verified_and_run_where_there_is_an_emulator(
    board: str, tmp_path: Path
) -> None:
    project = tmp_path / "p"
    microgen.generate(DIGITS, board, project)
    if boards.load(board).qemu is None:
        report = microgen.verify(project)  # builds it
        assert report.ok
        assert report.check("sections_fit").status == "ok"
        return
    ran = microgen.run(project, compare=True)  # verifies, too
    assert ran.checks.check("stack").values["used"] == ran.stack > 0
    assert [v for v in ran.verdicts if not v.is_skipped]
    assert all(v.ok or v.is_skipped for v in ran.verdicts)


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
    assert board in (ROOT / "docs" / "boards.md").read_text()
