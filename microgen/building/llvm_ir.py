"""LLVM IR of the operators: clang's result for the C of each one alone, for the board's core."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from microgen.base.errors import BuildError
from microgen.base.files import FileTree
from microgen.building import toolchain
from microgen.target.board import Board

FOLDER = "model/codegen/host/llvm"

_OPERATORS = "model/codegen/host/src"  # its header declares them
_INCLUDES = (_OPERATORS, "model/codegen/host/include", "crt/include", "crt/src")
# Clang has a stdint.h of its own.
_NOT_FOR_CLANG = "crt/libc/stdint.h"
# The flags of CMakeLists.txt, but without debug information and the compiler's name.
_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fno-ident", "-fomit-frame-pointer")
_SECONDS = 600.0


def operators(sources: Mapping[str, bytes], files: FileTree, board: Board) -> FileTree:
    """``llvm/<function>.ll`` for each function's C source; ``files`` has the headers.

    None for a model without operators of ours. Raises ToolError without clang, BuildError if
    it refuses a source.
    """
    if not sources:
        return FileTree({})
    toolchain.check_clang(board)
    with tempfile.TemporaryDirectory(prefix="microgen-") as scratch:
        folder = Path(scratch)
        headers = {
            name: data
            for name, data in files.contents.items()
            if name.endswith(".h") and name != _NOT_FOR_CLANG
        }
        units = {f"{name}.c": source for name, source in sources.items()}
        FileTree({**headers, **units}).write_to(folder / "project")
        _compile(sorted(units), folder / "project", board)
        return FileTree(
            {
                f"{FOLDER}/{name}.ll": (folder / "project" / f"{name}.ll").read_bytes()
                for name in sources
            }
        )


def _compile(units: list[str], folder: Path, board: Board) -> None:
    """Compile with relative names only, because IR quotes the name of its source."""
    includes = [word for name in _INCLUDES for word in ("-I", name)]
    # Searched last, after the headers that clang has itself.
    libc = [] if board.is_host else ["-idirafter", "crt/libc"]
    command = ["clang", "-S", "-emit-llvm", *_FLAGS, *_target(board), *includes, *libc, *units]
    finished = toolchain.run(command, seconds=_SECONDS, cwd=folder)
    if not finished.ok:
        errors = re.findall(r".*\berror:.*", finished.output) or [finished.output.strip()]
        raise BuildError(f"clang refuses an operator: {errors[0]}", where="--emit llvm-ir")


def _target(board: Board) -> list[str]:
    cpu = board.cpu
    triple = [f"--target={cpu.triple}"] if cpu.triple else []
    # With GNU's EABI clang calls memcpy and memset; its default for bare metal is __aeabi_memcpy.
    names = ["-meabi", "gnu"] if cpu.architecture == "arm" else []
    return [*triple, *cpu.flags("llvm"), *board.cflags, *names]
