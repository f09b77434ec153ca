"""Command lines that start the firmware: in the board's emulator, or as a program of the host."""

from __future__ import annotations

import functools
from pathlib import Path

from microgen.base.errors import RunError, ToolError
from microgen.building import toolchain
from microgen.building.builder import check_is_built_here
from microgen.target.board import Board

CONSOLE = "console.txt"
DIAGNOSTICS = "diagnostics.txt"
INPUT = "microgen_input.bin"
OUTPUT = "microgen_output.bin"
_VERSION_SECONDS = 10.0


def command(board: Board, elf: Path, *, halted: bool = False, plugin: str = "") -> list[str]:
    """The command that starts the firmware. Run it in a directory of its own, to which it writes
    ``CONSOLE``.

    QEMU serves gdb's protocol on its standard input and output. ``halted``: wait there for a
    debugger before the first instruction. ``plugin`` is QEMU's ``-plugin`` argument. Raises
    RunError if the board has no emulator.
    """
    if board.is_host:
        return _under_gdbserver(elf) if halted else [str(elf.resolve())]
    check_emulator(board)
    assert board.qemu is not None
    return [
        board.qemu.system,
        *("-machine", board.qemu.machine, *board.qemu.args),
        # Without default devices nothing else uses the standard input and output.
        *("-nodefaults", "-display", "none", "-gdb", "stdio"),
        *_sandbox(board.qemu.system),
        # The console has a file of its own, because standard output belongs to the debugger.
        *("-chardev", f"file,id=console,path={CONSOLE}"),
        *("-semihosting-config", "enable=on,target=native,chardev=console"),
        *(("-S",) if halted else ()),
        *(("-plugin", plugin) if plugin else ()),
        *("-kernel", str(elf.resolve())),
    ]


def check_emulator(board: Board) -> None:
    """Raise RunError if the board has no emulator, BoardError if its firmware is made elsewhere,
    ToolError if the emulator is missing or does not have the board's machine."""
    if board.is_host:
        return
    check_is_built_here(board)
    if board.qemu is None:
        raise RunError(
            f"nothing here runs board {board.name}, which has no emulator",
            hint="run it on the board itself with --on gdb:HOST:PORT (`microgen help "
            "docs/guides/hardware.md`), or generate for an emulated board",
        )
    if board.qemu.machine not in machines(board.qemu.system):
        raise ToolError(
            f"this {board.qemu.system} has no machine {board.qemu.machine}, so it does not run "
            f"{board.name}",
            hint="install a newer QEMU (`microgen help docs/reference/boards.md` says which); "
            "Debian's backports have one",
        )


@functools.cache
def machines(emulator: str) -> frozenset[str]:
    """The names of the machines that an emulator has. Raises ToolError if it is missing."""
    listed = toolchain.run([emulator, "-machine", "help"], seconds=_VERSION_SECONDS).output
    return frozenset(line.split()[0] for line in listed.splitlines() if line.strip())


@functools.cache
def _sandbox(emulator: str) -> tuple[str, ...]:
    """The options with which firmware cannot start programs of the host through semihosting. Empty
    if QEMU was built without these options."""
    arguments = ("-sandbox", "on,spawn=deny")
    # QEMU refuses an option that it was built without before it prints its version.
    has_it = toolchain.run([emulator, *arguments, "--version"], seconds=_VERSION_SECONDS).ok
    return arguments if has_it else ()


def _under_gdbserver(elf: Path) -> list[str]:
    if not toolchain.has("gdbserver"):
        raise ToolError(
            "reading layers on this machine needs gdbserver, which is not installed",
            hint="apt-get install gdbserver, or run on a board that has an emulator",
        )
    # A shell would expand special characters of the path.
    return ["gdbserver", "--no-startup-with-shell", "-", str(elf.resolve())]
