"""Whether the compilers on this machine know a board's core."""

from __future__ import annotations

from microgen.base.errors import ToolError
from microgen.building import toolchain
from microgen.target.board import Board

_SECONDS = 20.0


def check(board: Board, kind: str) -> None:
    """Raise ToolError, with the version that is needed, if a compiler of the toolchain "gcc" or
    "llvm" does not know the board's core. Only recent cores are tried."""
    since = dict(board.cpu.since)
    if not since:
        return
    gcc = f"{board.toolchain}gcc"
    _try(board, gcc, ("-c", *board.cpu.flags("gcc")), since["gcc"])  # llvm needs its libgcc
    if kind == "llvm":
        check_clang(board)


def check_clang(board: Board) -> None:
    """Raise ToolError, with the version that is needed, if clang does not know the board's core."""
    since = dict(board.cpu.since)
    if since:
        target = f"--target={board.cpu.triple}"
        _try(board, "clang", ("-c", target, *board.cpu.flags("llvm")), since["llvm"])


def _try(board: Board, program: str, flags: tuple[str, ...], version: str) -> None:
    # An empty source is enough: compilers refuse an unknown core before they read any.
    nothing = ("-x", "c", "/dev/null", "-o", "/dev/null")
    if not toolchain.run([program, *flags, *nothing], seconds=_SECONDS).ok:
        raise ToolError(
            f"{program} does not know {board.cpu.name}: expected version {version} or newer",
            hint=f"install a newer {program}, or generate for a board with another CPU",
        )
