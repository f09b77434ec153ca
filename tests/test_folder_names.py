"""Folders with hostile names.

A project there builds, is verified and runs, or is refused in one line. Nothing in the name is
executed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import ProjectError
from microgen.base.files import check_buildable
from microgen.building import toolchain
from tests.support.minimal_project import needs_build
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_GDBSERVER

REFUSED = ['a"b', "a;touch X;b", "new\nline", "tab\tb", "a\x1b[31mb", "a\x7fb", "back\\slash"]
REFUSED += ["a|touch X", "a>X", "not utf-8: \udcff"]

TAKEN = [
    "a b",
    "a $(touch X) b",
    "$(touch X)",
    "a`touch X`b",
    "a'b",
    "a&touch X&",
    "-dash",
    "-DX=1",
]
TAKEN += ["50%", "%s%n", "grün 層", "[ab]", "*", "?", "{a,b}", "#hash", "a=b", "a<b", "~", "a:b"]
TAKEN += ["$HOME", "${HOME}", "$ENV{HOME}", "@at@", "!x", "(p)", "a^b", "+x", "trailing "]

# Everything in TAKEN, except what only matters as the first character.
WORST = "a $(touch X) `touch X` 'b' & touch X #%s~(é 層)*?[c],=!{d}<:@^$HOME"

Project = Callable[[str], Path]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A function that returns the unbuilt project for a board. Tests must copy it."""
    made: dict[str, Path] = {}

    def get(board: str) -> Path:
        if board not in made:
            made[board] = tmp_path_factory.mktemp(board) / "project"
            microgen.generate(SMALL, board, made[board])
        return made[board]

    return get


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_a_name_that_builds_cannot_have_is_refused_at_once(
    project: Project, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / name
    message = "no project can be built in a path that has the character '.*'; choose another"
    with pytest.raises(ProjectError, match=message) as caught:
        microgen.generate(SMALL, "native", folder)
    assert str(caught.value).isprintable()
    assert not folder.exists()
    shutil.copytree(project("native"), folder)
    with pytest.raises(ProjectError, match=message):
        microgen.build(folder)
    with pytest.raises(ProjectError, match=message):
        microgen.build(folder.parent / name / ".." / name)
    assert not (folder / "build").exists()


def test_other_names_are_not_refused(tmp_path: Path) -> None:
    for name in (*TAKEN, WORST):
        check_buildable(tmp_path / name)


def _check(project: Path, folder: Path, *, compare: bool = False) -> None:
    """Checks that a project works in a folder, and executes nothing in the folder's name."""
    shutil.copytree(project, folder)
    assert microgen.run(folder, compare=compare).samples > 0
    assert microgen.verify(folder).ok


@needs_build
@NEEDS_GDBSERVER
def test_the_worst_name_on_the_host(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _check(project("native"), tmp_path / WORST, compare=True)
    assert not list(tmp_path.rglob("X"))


@needs_build
@NEEDS_ARM
@pytest.mark.usefixtures("uncached")
def test_the_worst_name_on_a_board_and_built_elsewhere(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _check(project("mps2_an386"), Path(WORST))
    commands = (
        ["cmake", "-S", WORST, "-B", "else $(touch X) where", "-G", "Ninja"],
        ["ninja", "-C", "else $(touch X) where"],
        # With other levels the stack of functions is added up from files in the folder.
        [
            "cmake",
            "-S",
            WORST,
            "-B",
            f"{WORST}/o3",
            "-G",
            "Ninja",
            "-DMICROGEN_RUNTIME_OPTIMIZATION=-O3",
        ],
        ["ninja", "-C", f"{WORST}/o3"],
    )
    for command in commands:
        done = subprocess.run(
            [toolchain.find(command[0]), *command[1:]], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout
    built = Path("else $(touch X) where/firmware.elf").read_bytes()
    assert built == Path(WORST, "build/firmware.elf").read_bytes()
    assert not list(tmp_path.rglob("X"))


@pytest.mark.slow
@needs_build
@pytest.mark.parametrize("board", ["native", pytest.param("mps2_an386", marks=NEEDS_ARM)])
@pytest.mark.parametrize("name", TAKEN)
def test_every_name_by_itself(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, board: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _check(project(board), Path(name))
    assert not list(tmp_path.rglob("X"))
