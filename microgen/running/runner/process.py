"""One run of the firmware, in a temporary directory, bounded by time."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import RunError
from microgen.building import guard, toolchain
from microgen.running.runner.qemu import CONSOLE, DIAGNOSTICS, OUTPUT

# Short, because a run of few samples takes hardly longer, and progress is shown after each.
_POLL_SECONDS = 0.05


class HangError(Exception):
    """The firmware neither ended nor finished a sample within the time limit."""


@dataclass(frozen=True, slots=True)
class Process:
    """A running firmware. ``gdb`` is connected to its standard input and output."""

    popen: subprocess.Popen[bytes]
    directory: Path
    gdb: socket.socket

    def wait(self, limit: float, grown: Callable[[int], None] = lambda _: None) -> int:
        """The firmware's exit code, negative for a signal. ``grown`` gets the number of bytes in
        the output file. Raises HangError after ``limit`` seconds in which the file has not grown.
        """
        size, since = self.output_size(), time.monotonic()
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self.popen.wait(_POLL_SECONDS)
                grown(self.output_size())
                return code
            if self.output_size() != size:
                size, since = self.output_size(), time.monotonic()
                # Each new byte of output is progress, so the time limit begins anew.
                grown(size)
            elif time.monotonic() - since > limit:
                raise HangError

    def output_size(self) -> int:
        """Bytes of output so far."""
        try:
            return (self.directory / OUTPUT).stat().st_size
        except FileNotFoundError:
            return 0

    def text(self, name: str) -> str:
        """The text that the program has written to ``CONSOLE`` or ``DIAGNOSTICS``."""
        try:
            return (self.directory / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    @property
    def console(self) -> str:
        """The text that the firmware printed. Under gdbserver it is on the standard error, together
        with gdbserver's own text."""
        # Without gdbserver the console has a file of its own, which then is not empty.
        return self.text(CONSOLE) or self.text(DIAGNOSTICS)

    @property
    def diagnostics(self) -> str:
        """The text that the emulator or a sanitizer printed, without the emulator's warnings."""
        lines = self.text(DIAGNOSTICS).splitlines()
        # QEMU's warnings are not the reason why a run fails.
        return "\n".join(line for line in lines if ": warning:" not in line)


@contextlib.contextmanager
def directory() -> Iterator[Path]:
    """A directory for one run, removed afterwards, even if we are killed.

    Raises RunError if files cannot be written there, for example because the disk is full.
    """
    try:
        with guard.scratch() as folder:
            yield folder
    except OSError as error:
        raise RunError(
            f"the run's files cannot be written: {error.strerror}",
            where=str(error.filename or "the temporary folder"),
            hint="make space there, or set TMPDIR to another folder",
        ) from error


@contextlib.contextmanager
def started(command: Sequence[str], where: Path, *, gdb: bool) -> Iterator[Process]:
    """Start a command in ``where``. The command is ended at the end of the block, or when this
    process is killed.

    With ``gdb`` its standard input and output are a debugger's connection, not the console. Raises
    ToolError if the program is missing or cannot be started.
    """
    # Sockets, not pipes, because ``gdb.Stub`` needs a time limit for each answer.
    ours, theirs = socket.socketpair()
    with ours, theirs, (where / CONSOLE).open("wb") as out, (where / DIAGNOSTICS).open("wb") as err:
        running = toolchain.started(
            command,
            cwd=where,
            stdin=theirs.fileno() if gdb else subprocess.DEVNULL,
            stdout=theirs.fileno() if gdb else out,
            stderr=err,
            env={**os.environ, "ASAN_OPTIONS": _sanitizer_options()},
        )
        with running as program:
            # Only the program has this end now, so that its death ends the connection.
            theirs.close()
            yield Process(program.popen, where, ours)


def _sanitizer_options() -> str:
    # Firmware has no heap to leak, and the leak checker fails in every process that is traced.
    return ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
