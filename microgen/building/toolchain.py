"""Runs external programs: finds them, limits their time, says what to install, and whether
compilers know a board's core."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen.base.errors import ToolError
from microgen.building import guard
from microgen.building.tools import packages_of, search_path
from microgen.target.board import Board

_POLL = 0.2  # seconds
_START_SECONDS = 20.0  # of a compiler that has nothing to compile


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended. ``status`` is its exit status, negative for a signal, or None if it was
    stopped at its time limit. ``output`` is its printed text, including errors."""

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
    stop: threading.Event | None = None,
) -> Finished:
    """Run ``find(command[0])`` with the other arguments, for at most ``seconds``.

    ``env`` is added to this process's environment. Standard input is empty. At the time limit, or
    soon after another thread sets ``stop``, the program is ended with everything that it started.
    Raises ToolError if it cannot be started.
    """
    # LC_ALL=C, because errors are recognised by their English words.
    environment = {**os.environ, "PATH": search_path(), "LC_ALL": "C", **(env or {})}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started(command, env=environment, cwd=cwd, **pipes) as program:
        ended = _ended(program.popen, seconds, stop)
        if not ended:
            program.end()
        output, _ = program.popen.communicate()  # all output, also of earlier calls
    status = program.popen.returncode if ended else None
    return Finished(status, output.decode(errors="replace"))


def _ended(process: subprocess.Popen[bytes], seconds: float, stop: threading.Event | None) -> bool:
    """Whether a program ends in time, before another thread sets ``stop``."""
    end = time.monotonic() + seconds
    while not (stop and stop.is_set()) and (left := end - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            # Only ``stop`` has to be polled. Without it one wait lasts until the limit.
            process.communicate(timeout=min(left, _POLL) if stop else left)
            return True
    return False


@contextlib.contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[guard.Started]:
    """Start ``find(command[0])`` with the other arguments; end it with all that it started when the
    block is left, or when this process is killed.

    ``options`` are the options of ``Popen``. Raises ToolError if the program is missing or cannot
    be started.
    """
    path = find(str(command[0]))
    with contextlib.ExitStack() as ended:
        try:
            running = guard.started([str(path), *map(str, command[1:])], **options)
            program = ended.enter_context(running)
        except OSError as error:
            raise ToolError(f"cannot start {path}: {error.strerror}") from error
        yield program


def check_core(board: Board, kind: str) -> None:
    """Raise ToolError, with the version that is needed, if a compiler of the toolchain "gcc" or
    "llvm" does not know the board's core. Only recent cores are tried."""
    since = dict(board.cpu.since)
    if not since:
        return
    gcc = f"{board.toolchain}gcc"
    _check_core(board, gcc, ("-c", *board.cpu.flags("gcc")), since["gcc"])  # llvm needs its libgcc
    if kind == "llvm":
        check_clang(board)


def check_clang(board: Board) -> None:
    """Raise ToolError, with the version that is needed, if clang does not know the board's core."""
    since = dict(board.cpu.since)
    if since:
        target = f"--target={board.cpu.triple}"
        _check_core(board, "clang", ("-c", target, *board.cpu.flags("llvm")), since["llvm"])


def _check_core(board: Board, program: str, flags: tuple[str, ...], version: str) -> None:
    # An empty source is enough: compilers refuse an unknown core before they read any.
    nothing = ("-x", "c", "/dev/null", "-o", "/dev/null")
    if not run([program, *flags, *nothing], seconds=_START_SECONDS).ok:
        raise ToolError(
            f"{program} does not know {board.cpu.name}: expected version {version} or newer",
            hint=f"install a newer {program}, or generate for a board with another CPU",
        )
