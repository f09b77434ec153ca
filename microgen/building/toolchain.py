"""Runs other people's programs: finds them, limits their time, says what to install."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen.building import guard
from microgen.building.tools import packages_of, search_path
from microgen.errors import ToolError


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended. ``status`` is its exit status, negative for a signal, or None if it
    was stopped at its time limit. ``output`` is what it printed, including errors."""

    status: int | None
    output: str

    @property
    def ok(self) -> bool:
        """Whether it ended in time, with status 0."""
        return self.status == 0


def find(program: str) -> Path:
    """The program's path. Raises ToolError with the Debian package to install if it is missing."""
    found = shutil.which(program, path=search_path())
    if found is None:
        package = packages_of(program)
        hint = f"apt-get install {package}" if package else "install it, or add it to PATH"
        raise ToolError(f"{program} is not installed", hint=hint)
    return Path(found)


def has(program: str) -> bool:
    """Whether the program is installed."""
    return shutil.which(program, path=search_path()) is not None


def run(
    command: Sequence[str | Path],
    *,
    seconds: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Run ``find(command[0])`` with the other arguments, for at most ``seconds``.

    ``env`` is added to this process's environment. Standard input is empty. At the time limit
    the program is ended with everything that it started. Raises ToolError if it cannot be started.
    """
    environment = {**os.environ, "PATH": search_path(), "LC_ALL": "C", **(env or {})}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started(command, env=environment, cwd=cwd, **pipes) as program:
        try:
            output, _ = program.popen.communicate(timeout=seconds)
            status: int | None = program.popen.returncode
        except subprocess.TimeoutExpired:
            program.end()
            output, _ = program.popen.communicate()
            status = None
    return Finished(status, output.decode(errors="replace"))


@contextlib.contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[guard.Started]:
    """Start ``find(command[0])`` with the other arguments; end it with all that it started when the
    block is left, or when this process is killed.

    ``options`` are those of ``Popen``. Raises ToolError if it is missing, or cannot be started.
    """
    path = find(str(command[0]))
    with contextlib.ExitStack() as ended:
        try:
            running = guard.started([str(path), *map(str, command[1:])], **options)
            program = ended.enter_context(running)
        except OSError as error:
            raise ToolError(f"cannot start {path}: {error.strerror}") from error
        yield program
