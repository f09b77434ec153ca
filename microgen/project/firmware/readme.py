"""Texts of a project's README about its models, its board and its toolchain."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.planner.program.types import Port
from microgen.project.emit.ports import is_scaled
from microgen.target.board import Board

_LONGEST_TITLE = 60  # characters
# Debian's packages, by the compiler's prefix.
_COMPILERS = {
    "arm-none-eabi-": "gcc-arm-none-eabi",
    "riscv64-unknown-elf-": "gcc-riscv64-unknown-elf",
}


def title(prefixes: Sequence[str]) -> str:
    """The title, made of the prefixes of the models' names."""
    names = " and ".join(prefixes)
    return names if len(names) <= _LONGEST_TITLE else f"{prefixes[0]} and {len(prefixes) - 1} more"


def meaning(port: Port) -> str:
    """The formula, as text, of the real number that an element represents."""
    kind = port.type
    if not is_scaled(kind):
        return "itself"
    sign = "+" if kind.zero_point < 0 else "-"
    offset = f"(element {sign} {abs(kind.zero_point)})" if kind.zero_point else "element"
    return f"{kind.scale:.6g} * {offset}"


def qemu_command(board: Board) -> str:
    """The command that runs the firmware in QEMU from the project's folder; "" if QEMU does not
    have the board."""
    if board.qemu is None:
        return ""
    machine = " ".join((board.qemu.system, f"-M {board.qemu.machine}", *board.qemu.args))
    options = "-semihosting-config enable=on,target=native -kernel build/firmware.elf"
    return f"{machine} -nographic \\\n    {options}"


def toolchain_note(board: Board, toolchain: str) -> str:
    """A sentence about the tools that building the firmware needs."""
    if toolchain == "llvm":
        helpers = "" if board.is_host else _libgcc_note(board)
        return (
            f"It needs CMake, Ninja, clang and lld (Debian: cmake ninja-build clang lld).{helpers}"
        )
    if board.is_host:
        return "It needs CMake, Ninja and a C compiler."
    return (
        f"It needs CMake, Ninja and the compiler `{board.toolchain}gcc` (Debian: cmake ninja-build "
        f"{_package(board)}). It needs no C library."
    )


def _package(board: Board) -> str:
    return _COMPILERS.get(board.toolchain, "no package of that name is known")


def _libgcc_note(board: Board) -> str:
    return (
        f" Operations that the CPU does not have are in libgcc, which comes with "
        f"`{board.toolchain}gcc` (Debian: {_package(board)}). It needs no C library."
    )
