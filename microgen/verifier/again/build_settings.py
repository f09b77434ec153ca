"""Reads from CMake's cache next to the ELF how the ELF was built. The cache is not trusted, so only
optimization levels are read from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from microgen.target.board import Board

MODEL, RUNTIME = "MICROGEN_MODEL_OPTIMIZATION", "MICROGEN_RUNTIME_OPTIMIZATION"
STACK = "MICROGEN_STACK"
_DEFAULTS = {MODEL: "-O2", RUNTIME: "-Os"}  # as in templates/project/CMakeLists.txt.j2
_LEVEL = re.compile(r"-O(?:[0-3sgz]|fast)")
_ENTRY = re.compile(r"^(\w+):\w+=(.*)$", re.MULTILINE)
_MOST_BYTES = 1 << 20  # of the cache that are read
# Flags that are not repeated. A build that uses them changes code.
_OTHER_FLAGS = (
    *("MICROGEN_EXTRA_CFLAGS", "CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS", "CMAKE_ASM_FLAGS"),
    "CMAKE_EXE_LINKER_FLAGS",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The levels to build with, as CMake variables, and where they are from. ``refused`` is the
    reason why the build cannot be repeated; it is empty if there is none."""

    levels: Mapping[str, str]
    origin: str
    refused: str = ""

    def __str__(self) -> str:
        return f"{self.levels[MODEL]} for the model, {self.levels[RUNTIME]} else ({self.origin})"


def parsed(text: str) -> dict[str, str]:
    """The user's levels ``MODEL[,RUNTIME]``, as ``O3,Os``, by CMake variable; none for "".

    Raises ValueError for anything else.
    """
    words = text.split(",") if text else []
    levels = dict(
        zip((MODEL, RUNTIME), (f"-{word.removeprefix('-')}" for word in words), strict=False)
    )
    if len(words) > 2 or not all(map(_LEVEL.fullmatch, levels.values())):
        raise ValueError(f"{text!r} is neither a level, as O3, nor two, as O3,Os")
    return levels


def settings(elf: Path, asked: Mapping[str, str], board: Board) -> Settings:
    """The user's levels if there are any, otherwise the levels in the cache next to the ELF."""
    if asked:
        return Settings({**_DEFAULTS, **asked}, "as given")
    cache = _cache(elf.resolve().parent / "CMakeCache.txt")
    if cache is None:
        return Settings(_DEFAULTS, "by default, because there is no CMakeCache.txt next to the ELF")
    levels = {name: cache.get(name, level) for name, level in _DEFAULTS.items()}
    other = [name for name in _OTHER_FLAGS if cache.get(name)]
    if cache.get("MICROGEN_TOOLCHAIN_PREFIX", board.toolchain) != board.toolchain:
        other.append("MICROGEN_TOOLCHAIN_PREFIX")
    other += [name for name, level in levels.items() if not _LEVEL.fullmatch(level)]
    why = f"CMakeCache.txt sets {other[0]}, and only levels as -O2 are repeated" if other else ""
    return Settings(levels, "as CMakeCache.txt says", why)


def stack(board: Board) -> dict[str, str]:
    """The variable for the stack that a firmware reserves, in bytes; none on the host."""
    return {} if board.is_host else {STACK: str(board.stack_bytes)}


def _cache(path: Path) -> dict[str, str] | None:
    """CMake's variables; None if there is no file."""
    # A link could lead out of the build folder.
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        text = file.read(_MOST_BYTES).decode(errors="replace")
    return dict(_ENTRY.findall(text))
