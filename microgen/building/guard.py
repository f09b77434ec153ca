"""Programs and folders that end with this process, however it ends."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_GRACE_SECONDS = 1.0  # from SIGTERM to SIGKILL
_ROUNDS = 20  # looks for marked processes, at most
_MARK = "MICROGEN_STARTED"
_SHELL = "/bin/sh"
# A process may start another one while it is being ended, so we look more than once. Each look is
# one ``grep`` over all processes: with one for each process, several watches at once would count
# each other's, and would soon have started as many as the machine can hold.
_UNTIL_MARKED = 0.05  # seconds
_END = """
for name in TERM KILL KILL KILL; do
    for found in $(cd /proc && printf '%s\\n' [0-9]*/environ | xargs grep -lsF -- "$1"); do
        kill -s "$name" "${found%/environ}"
    done
    sleep 1
done
"""
_REMOVE = 'sleep 2; rm -rf -- "$1"'  # by then nothing writes there any more


@dataclass(frozen=True, slots=True)
class Started:
    """A program in a session of its own. ``mark`` is in its environment. All programs that it
    starts inherit the mark, even if they make sessions and process groups of their own."""

    popen: subprocess.Popen[bytes]
    mark: str

    def end(self) -> None:
        """End the program if it still runs, first politely, then by force. Then end the programs
        that it started by force."""
        for number in ("SIGTERM", "SIGKILL"):
            if self.popen.poll() is None:
                self._signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.popen.wait(_GRACE_SECONDS)
        _end_marked(self.mark)

    def _signal(self, name: str) -> None:
        if hasattr(os, "killpg"):
            # The program leads a session, so its process id is its group's, too.
            os.killpg(self.popen.pid, getattr(signal, name))
        else:  # on Windows, where both end it by force
            self.popen.terminate()


@contextlib.contextmanager
def started(
    command: Sequence[str], env: Mapping[str, str] | None = None, **options: Any
) -> Iterator[Started]:
    """Start a program; end it with all that it started when the block is left, or when this process
    is killed. ``options`` are the options of ``Popen``. Raises OSError if it cannot be started."""
    # 128 random bits, because every process whose environment has the mark is killed.
    token = secrets.token_hex(16)
    mark = f"{_MARK}={token}"
    marked = {**(os.environ if env is None else env), _MARK: token}
    # The watch and the end first: we may be killed, or interrupted inside of Popen, as soon as the
    # program runs.
    with (
        _watched(_END, mark),
        _ending(mark),
        subprocess.Popen(command, env=marked, start_new_session=True, **options) as popen,
    ):
        program = Started(popen, mark)
        try:
            yield program
        finally:
            program.end()


@contextlib.contextmanager
def _ending(mark: str) -> Iterator[None]:
    """If the block fails, nothing that has the mark is left after it."""
    try:
        yield
    except BaseException:
        # Linux closes Popen's pipe, which says that the program runs, before it shows the program's
        # environment: a process that was started just now has no mark yet.
        time.sleep(_UNTIL_MARKED)
        _end_marked(mark)
        raise


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """An empty temporary folder. It is removed after the block, or when this process is killed.

    Raises OSError if it cannot be made.
    """
    folder = Path(tempfile.gettempdir()) / f"microgen-{secrets.token_hex(8)}"
    with _watched(_REMOVE, str(folder)):
        try:  # a signal may come right after the folder has been made
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(folder)


def _end_marked(mark: str) -> None:
    for _ in range(_ROUNDS):  # a process may start another one while we look
        if not (left := _marked(mark)):
            break
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _marked(mark: str) -> list[int]:
    """The processes that have the mark in their environment; none without /proc."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        # Not by paths, because making one takes longer than reading the file.
        for name in filter(str.isdigit, os.listdir("/proc")):
            with (
                contextlib.suppress(OSError),  # it has just ended, or is another user's
                open(f"/proc/{name}/environ", "rb", buffering=0) as environment,
            ):
                if mark.encode() in environment.read():
                    found.append(int(name))
    return found


@contextlib.contextmanager
def _watched(command: str, argument: str) -> Iterator[None]:
    """While the block runs, a shell in a session of its own waits for a line from us. If its input
    ends without a line, this process has been killed, and the shell runs ``command``. Without a
    shell, as on Windows, nothing runs then."""
    if not os.path.exists(_SHELL):
        yield
        return
    # In a session of its own, so that signals to our terminal's processes do not end it.
    shell = subprocess.Popen(
        [_SHELL, "-c", f"read -r line || {{ {command}\n}}", "sh", argument],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    try:
        yield
    finally:
        # A line, because the shell reads the end of its input as our death.
        shell.communicate(b"\n")
