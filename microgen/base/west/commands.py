# SPDX-License-Identifier: Apache-2.0
"""Commands for west: ``west build``, ``west verify`` and ``west run`` of a generated project, and
``west microgen`` of any workspace.

Every generated project has a copy of this file. So it needs only west and the standard library, and
Python 3.8 is enough.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from west.commands import CommandError, WestCommand

_FILE = Path(__file__).resolve()
_PROJECT = _FILE.parent.parent  # if this is a project's copy


class _Command(WestCommand):
    """A command that passes its options on to microgen."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, text, text, accepts_unknown_args=True)

    def do_add_parser(self, parser_adder: Any) -> argparse.ArgumentParser:
        """No option, not even -h, so that microgen explains those that it has."""
        parser: argparse.ArgumentParser = parser_adder.add_parser(
            self.name, help=self.help, description=self.description, add_help=False
        )
        return parser

    def become_microgen(self, *arguments: str) -> NoReturn:
        """Run microgen in this process: signals and the exit status need no translation."""
        command = _microgen()
        if not command:
            self.fail(
                f"microgen is neither installed for {sys.executable} nor in PATH; "
                f"pip install {_distribution()}"
            )
        sys.stdout.flush()
        try:
            os.execv(command[0], [*command, *arguments])
        except OSError as error:  # such as a script whose interpreter is gone
            self.fail(f"{command[0]} cannot be started: {error.strerror}; install microgen again")

    def fail(self, message: str, status: int = 2) -> NoReturn:
        """End with one line and an exit status: 1 for a failed build, 2 for what is missing."""
        print(f"west {self.name}: {message}", file=sys.stderr)
        raise CommandError(status)


class _OfProject(_Command):
    """microgen's command of the same name, for the project that this file is a part of."""

    def do_run(self, _args: argparse.Namespace, unknown: list[str]) -> None:
        """Start it; paths in options are relative to the current directory."""
        self.become_microgen(self.name, _project(), *_options(unknown))


class Build(_OfProject):
    """``west build``. It needs microgen only for options."""

    def __init__(self) -> None:
        super().__init__("build", "build the firmware of this project, without Zephyr")

    def do_run(self, _args: argparse.Namespace, unknown: list[str]) -> None:
        """Start microgen, or CMake and Ninja if it is not installed."""
        if unknown or _microgen():
            super().do_run(_args, unknown)
        for program in ("cmake", "ninja"):
            if not shutil.which(program):
                self.fail(f"{program} is missing; on Debian: apt-get install cmake ninja-build")
        folder = _PROJECT / "build"
        _forget_other_cache(folder)
        self._call("cmake", "-S", _PROJECT, "-B", folder, "-G", "Ninja", "-DMICROGEN_ZEPHYR=OFF")
        self._call("ninja", "-C", folder)
        print(folder / "firmware.elf")

    def _call(self, program: str, *arguments: str | Path) -> None:
        if subprocess.run([program, *arguments]).returncode:
            self.fail(f"{program} failed", status=1)


class Verify(_OfProject):
    """``west verify``."""

    def __init__(self) -> None:
        super().__init__("verify", "check this project's firmware; build it first if needed")


class Run(_OfProject):
    """``west run``."""

    def __init__(self) -> None:
        super().__init__("run", "verify this project's firmware, then run it")


class Microgen(_Command):
    """``west microgen``: every command of microgen, under a name that shadows none of Zephyr's."""

    def __init__(self) -> None:
        super().__init__("microgen", "compile a trained network to a firmware project, and more")

    def do_run(self, _args: argparse.Namespace, unknown: list[str]) -> None:
        """Start it; ``generate`` without a board is for the board of west's ``build.board``."""
        options = _options(unknown)
        board = self.config.get("build.board")
        if board and options[:1] == ["generate"] and not any(map(_is_board, options)):
            print(f"west microgen: -b {board}, which is west's build.board", file=sys.stderr)
            options += ["-b", board]
        self.become_microgen(*options)


def _microgen() -> list[str]:
    """The command that starts microgen: of the Python that runs west, otherwise the one in PATH."""
    spec = importlib.util.find_spec("microgen")
    # Only a folder with this name has no origin. Python 3.10 and older cannot run microgen, and
    # know no -P, which keeps the current directory from being searched for modules.
    if spec and spec.origin and sys.version_info >= (3, 11):
        return [sys.executable, "-P", "-m", "microgen"]
    found = shutil.which("microgen")
    return [found] if found else []


def _distribution() -> str:
    """What pip can install: the repository that this file is in, if it is a project of west's."""
    repository = _FILE.parents[3]
    is_there = _FILE.parents[2].name == "microgen" and (repository / "pyproject.toml").is_file()
    return str(repository) if is_there else "microgen"


def _project() -> str:
    """The project's folder, in a relative form if the current directory is inside it."""
    here = Path.cwd()
    return os.path.relpath(_PROJECT) if _PROJECT in (here, *here.parents) else str(_PROJECT)


def _options(unknown: list[str]) -> list[str]:
    """The options without the mark in ``west run -- --compare``."""
    return unknown[1:] if unknown[:1] == ["--"] else unknown


def _is_board(option: str) -> bool:
    return option.startswith("-b") or option.partition("=")[0] == "--board"


def _forget_other_cache(folder: Path) -> None:
    """Remove a build folder of Zephyr's, or one that was copied here: CMake would refuse it."""
    try:
        cache = (folder / "CMakeCache.txt").read_text(errors="replace")
    except FileNotFoundError:
        return
    if f"CMAKE_HOME_DIRECTORY:INTERNAL={_PROJECT}\n" not in cache or "\nWEST_PYTHON:" in cache:
        shutil.rmtree(folder)
