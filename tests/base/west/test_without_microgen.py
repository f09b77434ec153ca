"""A project's commands under a Python for which microgen is not installed."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest

import microgen
from microgen.base import west as commands
from tests.base.west.west import NEEDS_WEST, west, without_microgen
from tests.support.places import SMALL
from tests.support.tools import needs

pytestmark = NEEDS_WEST

LACKING = f"microgen is neither installed for {sys.executable} nor in PATH; pip install "


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that is a workspace."""
    folder = tmp_path_factory.mktemp("alone") / "p"
    microgen.generate(SMALL, "native", folder)
    assert without_microgen(folder, "init", "-l", "west").returncode == 0
    return folder


@pytest.mark.parametrize("command", [("verify",), ("run", "--compare"), ("build", "-q")])
def test_what_needs_microgen_says_it_in_one_line(made: Path, command: tuple[str, ...]) -> None:
    finished = without_microgen(made, *command)
    assert finished.returncode == 2
    assert finished.stderr == f"west {command[0]}: {LACKING}microgen\n"
    assert finished.stdout == ""


@needs("cmake", "ninja", "cc")
def test_build_needs_only_cmake_and_ninja(made: Path, tmp_path: Path) -> None:
    first = without_microgen(made / "src", "build")
    assert first.stdout.endswith(f"{made}/build/firmware.elf\n"), first.stdout + first.stderr
    copy = Path(shutil.copytree(made, tmp_path / "copy of p"))
    (copy / "build" / "firmware.elf").unlink()
    again = without_microgen(copy, "build")
    assert again.returncode == 0, again.stdout + again.stderr
    assert (copy / "build" / "firmware.elf").is_file()
    (copy / "src" / "main.c").write_text("none\n")
    broken = without_microgen(copy, "build")
    assert broken.returncode == 1
    assert broken.stderr == "west build: ninja failed\n"
    assert "main.c:1:1: error:" in broken.stdout


def test_a_missing_tool_is_an_error_that_names_its_package(made: Path, tmp_path: Path) -> None:
    (tmp_path / "ninja").symlink_to(sys.executable)
    finished = without_microgen(made, "build", path=str(tmp_path))
    assert finished.returncode == 2
    said = "west build: cmake is missing; on Debian: apt-get install cmake ninja-build\n"
    assert finished.stderr == said


def test_microgen_in_the_path_is_enough(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "microgen"
    other.write_text('#!/bin/sh\necho "$@"\nexit 7\n')
    other.chmod(0o755)
    finished = without_microgen(made, "run", "--", "-q", path=str(tmp_path))
    assert (finished.stdout, finished.returncode) == ("run . -q\n", 7)
    other.write_text("#!/gone/python\n")
    finished = without_microgen(made, "run", path=str(tmp_path))
    said = "cannot be started: No such file or directory; install microgen again"
    assert (finished.stderr, finished.returncode) == (f"west run: {other} {said}\n", 2)


def test_nothing_in_the_current_directory_is_executed(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "p"))
    for name in ("microgen.py", "numpy.py", "argparse.py"):
        (folder / name).write_text("raise SystemExit(9)\n")
    finished = west(folder, "build", "--none")
    assert finished.returncode == 2
    assert "unrecognized arguments: --none" in finished.stderr


def test_the_oldest_python_of_west_compiles_the_commands(made: Path) -> None:
    source = (made / "west" / "microgen_commands.py").read_bytes()
    assert source == commands.source()
    ast.parse(source, feature_version=(3, 8))
