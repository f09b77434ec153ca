"""Where boards are found, and where they are not looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.base import resources
from microgen.base.errors import BoardError
from microgen.target import board as boards
from microgen.target import found

MINE = """\
title: Mine
cpu: cortex-m4
memories:
  - {name: flash, origin: 0x08000000, length: 512K, access: rx}
  - {name: ram, origin: 0x20000000, length: 128K, access: rw}
"""


def desk(folder: Path, name: str = "desk", more: str = "") -> Path:
    path = folder / name / "board.yml"
    path.parent.mkdir(parents=True)
    path.write_text(MINE + more)
    return path


def test_a_path_is_a_folder_or_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk(tmp_path)
    for reference in (path, str(path), path.parent, str(path.parent), f"{path.parent}/"):
        assert found.find(reference).name == "desk"
    monkeypatch.chdir(path.parent)
    for here in ("board.yml", ".", "./", "../desk"):
        assert found.find(here).name == "desk"


def test_a_name_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BoardError, match=r"no board 'desk'; boards: .*or give a path.* \./desk"):
        found.find("desk", local=True)


def test_the_folders_of_the_variable_come_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    desk(first, more="zephyr: first\n")
    desk(second, more="zephyr: second\n")
    desk(second, "other")
    monkeypatch.setenv(found.VARIABLE, f"{first}:{second}:")
    assert found.find("desk").zephyr == "first"
    assert found.find("other").name == "other"
    assert [file.parent for file in found.files()] == [
        *(first / "desk", second / "desk", second / "other")
    ]
    assert found.find("mps2_an386") == boards.load("mps2_an386")


@pytest.mark.parametrize("folder", ["boards", ".", "./x", "../x"])
def test_a_relative_folder_in_the_variable_is_refused(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(found.VARIABLE, f"{tmp_path}:{folder}")
    with pytest.raises(BoardError, match=r"MICROGEN_BOARDS: .* is not an absolute path"):
        found.find("desk")


def test_the_current_folder_counts_only_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk(tmp_path / "boards")
    monkeypatch.chdir(tmp_path)
    assert found.find("desk", local=True).name == "desk"
    assert [*map(str, found.files(local=True))] == ["boards/desk/board.yml"]
    with pytest.raises(BoardError, match="there is no board 'desk'"):
        found.find("desk")
    assert not list(found.files())


def test_an_installed_name_is_taken(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match="a board called microbit is installed; rename the folder"):
        found.find(desk(tmp_path, "microbit"))
    installed = resources.folder("boards") / "microbit"
    assert found.find(installed) == boards.load("microbit")


def test_the_host_is_not_for_others(tmp_path: Path) -> None:
    path = desk(tmp_path)
    path.write_text("title: x\ncpu: host\n")
    with pytest.raises(BoardError, match="the CPU is the host; use the board native"):
        found.find(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match=r"absent/board\.yml: there is no such file; give"):
        found.find(tmp_path / "absent")
    (tmp_path / "folder" / "board.yml").mkdir(parents=True)
    with pytest.raises(BoardError, match="is not a regular file"):
        found.find(tmp_path / "folder")
