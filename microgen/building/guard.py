"""Programs and folders that end with this process, however it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_GRACE_SECONDS = 1.0
# Ninja and gdbserver start programs in process groups of their own, but in the same session. It is
# the sixth field of /proc/<pid>/stat, whose second field, in parentheses, may contain anything.
_END = """
kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"
for process in /proc/[0-9]*; do
    read -r stat <"$process/stat" || continue
    set -- "$1" ${stat##*) }
    if [ "$5" = "$1" ]; then kill -s KILL "${process#/proc/}"; fi
done
"""
_REMOVE = 'sleep 2; rm -rf -- "$1"'  # by then nothing writes there any more


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the program and its session when the block is left, or when this process is killed.

    It must have been started with ``start_new_session=True``.
    """
    try:
        with _watched(_END, str(process.pid)):
            yield
    finally:
        end(process)


@contextlib.contextmanager
def removed(folder: str) -> Iterator[None]:
    """Remove the folder if this process is killed in the block."""
    with _watched(_REMOVE, folder):
        yield


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """An empty temporary folder. It is removed after the block, or when this process is killed."""
    with tempfile.TemporaryDirectory(prefix="microgen-") as name, removed(name):
        yield Path(name)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, first politely, then by force, and then the rest of its
    session by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
    for pid in _session(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _session(leader: int) -> list[int]:
    """The remaining processes of a session; none without /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # the process has just ended
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == leader:
                found.append(int(stat.parent.name))
    return found


@contextlib.contextmanager
def _watched(command: str, argument: str) -> Iterator[None]:
    """While the block runs, a shell in a session of its own waits for a line from us. If its input
    ends without one, we have been killed, and it runs ``command``."""
    shell = subprocess.Popen(
        ["/bin/sh", "-c", f"read -r line || {{ {command}\n}}", "sh", argument],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    try:
        yield
    finally:
        shell.communicate(b"\n")
