"""Programs and folders that do not outlive this process, whatever ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator

_GRACE_SECONDS = 1.0
# What ninja has started is in process groups of its own, and ends if ninja is asked to.
_END = 'kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"'
_REMOVE = 'sleep 2; rm -rf -- "$1"'  # once nothing writes there any more


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """When the block is left, and when this process is killed, the program ends with its group.

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
    """End a program and its process group, if it has not ended: politely, then by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)


@contextlib.contextmanager
def _watched(command: str, argument: str) -> Iterator[None]:
    """A shell of its own session waits for a line from us: if none comes before its input ends, we
    have been killed, and it runs ``command``."""
    shell = subprocess.Popen(
        ["/bin/sh", "-c", f"read -r line || {{ {command}; }}", "sh", argument],
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
