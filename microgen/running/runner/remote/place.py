"""The place where a project runs: this machine, or the core of a server that the user names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import UsageError
from microgen.running.runner import qemu
from microgen.running.runner.remote import address, target
from microgen.running.runner.remote.address import Address
from microgen.running.runner.remote.target import RemoteTarget
from microgen.target import projects


def checked(project: Path, on: str) -> Address | None:
    """The server that ``on`` names, None if it is empty. Raises UsageError, or RunError if nothing
    here runs the project's board, so that both errors are found before anything is built."""
    board = projects.of_project(manifest.load(project).board)
    if not on:
        qemu.check_emulator(board)
        return None
    if board.is_host:
        what = f"the project is for {board.name}, whose firmware is a program of this machine"
        raise UsageError(what, where="--on", hint="leave --on out, or generate for a board")
    return address.parse(on)


@contextlib.contextmanager
def opened(where: Address | None, elf: Path, limit: float) -> Iterator[RemoteTarget | None]:
    """The core on which the firmware runs, None for this machine. See ``target.opened``."""
    if where is None:
        yield None
        return
    with target.opened(where, elf, limit) as core:
        yield core
