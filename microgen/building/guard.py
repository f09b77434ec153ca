"""Programs and folders that do not outlive this process, whatever ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

_GRACE_SECONDS = 1.0
# Ninja and gdbserver start programs in process groups of their own, but in the same session: the
# sixth field of each /proc/<pid>/stat, of which the second, in parentheses, may hold anything.
_END = """
kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"
for process in /proc/[0-9]*; do
    read -r stat <"$process/stat" || continue
    set -- "$1" ${stat##*) }
    if [ "$5" = "$1" ]; then kill -s KILL "${process#/proc/}"; fi
done
"""
_REMOVE = 'sleep 2; rm -rf -- "$1"'  # once nothing writes there any more


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """When the block is left, and when this process is killed, the program ends with its session.

    It must have been started with ``start_new_session=True``.
    """
    try:
        with _watched(_END, str(process.pid)):
            yield
    finally:
        end(process)


@contextlib.contextmanager
def removed(folder: str) -> Iterator[None]:
    """If this process is killed in the block, the folder is removed."""
    with _watched(_REMOVE, folder):
        yield


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program, if it has not ended, politely, then by force; and what is left of its session,
    by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
    for pid in _session(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _session(leader: int) -> list[int]:
    """The processes that are left of a session; none where there is no /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == leader:
                found.append(int(stat.parent.name))
    return found


@contextlib.contextmanager
def _watched(command: str, argument: str) -> Iterator[None]:
    """A shell of its own session waits for a line from us: if none comes before its input ends, we
    have been killed, and it runs ``command``."""
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
