"""Compiles a model's sources again with the flags that an ELF of another build system records.

Sources and include folders are from the project that has just been generated again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from microgen.building import toolchain
from microgen.project.exporting import forms
from microgen.target.board import Board
from microgen.verifier.again import recorded_flags
from microgen.verifier.again.recorded_flags import RecordedFlags
from microgen.verifier.again.regenerated import ImpossibleError

_SECONDS = 600.0  # for each run of the compiler
# C's meaning: the project's own CMakeLists.txt demands the same.
_ALWAYS = ("-ffp-contract=off", "-w", "-c")
# No compiler records macros, but C libraries differ in macros that affect code: they choose
# stdint.h's types among the types of equal size. Source: GCC's predefined macros of Arm and RISC-V,
# and Zephyr's manual.
_ZEPHYR = {
    **{f"__{name}32_TYPE__": "int" for name in ("INT", "INT_LEAST", "INT_FAST")},
    **{f"__U{name}32_TYPE__": "unsigned int" for name in ("INT", "INT_LEAST", "INT_FAST")},
    "__INTPTR_TYPE__": "long int",
    "__UINTPTR_TYPE__": "long unsigned int",
    "__INT32_C(c)": "c",
    "__UINT32_C(c)": "c ## U",
}
_PRAGMAS = "pragmas.h"  # written next to the sources
INTEGERS: Mapping[str, Sequence[str]] = {
    "GCC's types of integers": (),
    "Zephyr's types of integers": (
        *(f"-U{name.partition('(')[0]}" for name in _ZEPHYR),
        *(f"-D{name}={value}" for name, value in _ZEPHYR.items()),
    ),
    # No compiler records pragmas either. Sources of some exported components begin with these.
    "GCC's types of integers, the pragma of exported sources": ("-include", _PRAGMAS),
}


@dataclass(frozen=True, slots=True)
class Sources:
    """The model's sources in the project's ``CMakeLists.txt``, relative to its folder."""

    project: Path
    files: tuple[PurePosixPath, ...]
    folders: tuple[str, ...]

    @property
    def in_c(self) -> list[PurePosixPath]:
        """The C files; the others are in assembly."""
        return [source for source in self.files if source.suffix == ".c"]


def sources(project: Path) -> Sources:
    """The sources of a project that has just been generated."""
    text = (project / "CMakeLists.txt").read_text("utf-8")
    names = [*_listed(text, "MODEL_SOURCES"), *_listed(text, "CODEGEN_SOURCES")]
    folders = [*_listed(text, "INCLUDES"), *_listed(text, "CODEGEN_INCLUDES")]
    return Sources(project, tuple(map(PurePosixPath, names)), tuple(folders))


def _listed(text: str, name: str) -> list[str]:
    block = re.search(rf"^set\({name}\n(.*?)^\)$", text, re.MULTILINE | re.DOTALL)
    return block[1].split() if block else []


def recorded(elf: Path, of: Sources) -> dict[PurePosixPath, RecordedFlags]:
    """The flags of each C file; empty if the ELF names no flags.

    Raises ImpossibleError if the ELF names the flags of some files only, and UnknownFlagError for
    flags that are not listed.
    """
    units = recorded_flags.units(elf)
    by_source = {source: recorded_flags.of_source(units, source) for source in of.in_c}
    known = {source: flags for source, flags in by_source.items() if flags}
    missing = [str(source) for source in by_source if source not in known]
    if known and missing:
        raise ImpossibleError(f"the ELF names no flags for {missing[0]}; {recorded_flags.HINT}")
    return known


def compiled(
    of: Sources, flags: Mapping[PurePosixPath, RecordedFlags], board: Board, macros: Sequence[str]
) -> list[Path]:
    """The object files of all sources, each compiled with its own flags and the same ``macros``.

    Raises ImpossibleError if another compiler is installed, or if it refuses a source, ToolError
    without compiler.
    """
    compiler = f"{board.toolchain}gcc"
    named = {own.version for own in flags.values()}
    here = _version(compiler, of.project)
    if named != {here}:
        versions = " and ".join(sorted(named))
        raise ImpossibleError(f"GCC {versions} compiled the model, and {compiler} here is {here}")
    folders = [word for folder in of.folders for word in ("-I", folder)]
    (of.project / _PRAGMAS).write_bytes(forms.COMPILE_OPTIONS)
    # -idirafter: only headers that the compiler's own C library does not have.
    always = (*_ALWAYS, *macros, *folders, "-idirafter", "crt/libc")
    made = []
    for number, source in enumerate(of.files):
        own = flags[source].flags if source in flags else board.cpu.cflags
        made.append(of.project / f"{number}.o")
        _run([compiler, *own, *always, str(source), "-o", made[-1].name], made[-1], source)
    return made


def _run(command: list[str], made: Path, source: PurePosixPath) -> None:
    finished = toolchain.run(command, seconds=_SECONDS, cwd=made.parent)
    if not (finished.ok and made.is_file()):
        first_line = next(iter(finished.output.splitlines()), "nothing")
        raise ImpossibleError(f"{source} cannot be compiled here as the ELF says: {first_line}")


def _version(compiler: str, folder: Path) -> str:
    """The compiler's ``__VERSION__``."""
    (folder / "version.c").write_bytes(b"__VERSION__\n")
    finished = toolchain.run([compiler, "-E", "-P", "version.c"], seconds=_SECONDS, cwd=folder)
    return finished.output.strip().strip('"')
