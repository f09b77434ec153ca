"""The first line about an ELF says whose firmware it is, and a missing ELF is not to be built."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import ProjectError
from microgen.interface.cli import main
from tests.support.minimal_project import board_params
from tests.support.tools import needs
from tests.tamper.firmware import BOARDS, firmware, two_models

pytestmark = needs("cmake", "ninja")
of_board = pytest.mark.parametrize("board", board_params(BOARDS[0]))


@of_board
def test_the_firmware_of_other_models_is_named(
    board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = two_models(board) / "build" / "firmware.elf"
    assert main(["verify", str(firmware(board)), "--elf", str(theirs)]) == 1
    (first, *_) = capsys.readouterr().out.splitlines()
    assert first == "this is the firmware of 'first' and 'second', not of 'default'"


@of_board
def test_another_model_of_the_same_name_is_named(board: str, tmp_path: Path) -> None:
    project = firmware(board)
    data = (project / "build" / "firmware.elf").read_bytes()
    digest = manifest.load(project).model.sha256
    assert data.count(digest.encode()) > 2
    (tmp_path / "other.elf").write_bytes(data.replace(digest.encode(), b"a" * 64))
    report = microgen.verify(project, elf=tmp_path / "other.elf")
    assert not report.ok
    assert report.notice == (
        f"this is the firmware of 'default' of the model {'a' * 12}, not of {digest[:12]}"
    )
    assert microgen.verify(project).notice == ""


@of_board
def test_a_missing_file_is_not_to_be_built(board: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="No such file") as missing:
        microgen.verify(firmware(board), elf=tmp_path / "missing.elf")
    assert "build" not in missing.value.hint
