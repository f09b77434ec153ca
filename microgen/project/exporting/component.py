"""The component of a project: all files that another firmware needs for its models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from microgen.base.errors import ProjectError, short
from microgen.base.files import MANIFEST
from microgen.base.manifest import Manifest
from microgen.project.firmware.component import C_FLAGS
from microgen.target.cpu import CPUS
from microgen.tvm.mlf.export import record_of, sound

LISTS = "model/CMakeLists.txt"
# Sections of the constants and the model's memory. Most linker scripts put them into .rodata and
# .bss.
SECTIONS = (".rodata.tvm", ".bss.noinit.tvm")
FLAGS = ("-O2", *C_FLAGS)

_VARIABLES = {"${MODEL}/": "model/", "${CRT}/": "crt/", "${CODEGENS}/": "codegens/"}
_LIST = re.compile(r"^set\((\w+)\n((?:  \S+\n)*)\)$", re.MULTILINE)
_KEPT = re.compile(r"^  -Wl,--undefined=(\w+)$", re.MULTILINE)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)
_ALWAYS = ("model/codegen/host/", "model/executor-config/", "crt/include/", "codegens/")
_SOURCE = (".c", ".S", ".cpp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A project's models with all that they need, by the paths that it has in the project.

    ``name`` is the CMake target's: ``tvmgen_<module>`` for each model, joined with ``_``. ``files``
    are the contents of all files. The sources are C and assembler, in the order in which they are
    linked: the models' with their kernels, the runtime's, and the code generators', which may cause
    warnings. The application's include path is ``public_includes``. The sources' include path has
    ``private_includes`` and ``codegen_includes``, too. ``kept_symbols`` have to be in the program
    even if nothing refers to them. ``digest`` covers everything that determines the code.
    """

    name: str
    version: str
    digest: str
    cpu: str
    project: Manifest
    files: Mapping[str, bytes]
    model_sources: tuple[str, ...]
    runtime_sources: tuple[str, ...]
    codegen_sources: tuple[str, ...]
    public_includes: tuple[str, ...]
    private_includes: tuple[str, ...]
    codegen_includes: tuple[str, ...]
    kept_symbols: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources."""
        return (*self.model_sources, *self.runtime_sources, *self.codegen_sources)

    @property
    def includes(self) -> tuple[str, ...]:
        """The sources' include path."""
        return (*self.public_includes, *self.private_includes, *self.codegen_includes)

    @property
    def headers(self) -> tuple[str, ...]:
        """The names of the models' headers, as an application includes them."""
        folder = f"{self.public_includes[0]}/"
        return tuple(n.removeprefix(folder) for n in sorted(self.files) if n.startswith(folder))


def load(project: Path) -> Component:
    """The component of a project. Only files of the manifest are read.

    Raises ProjectError if a file or the manifest is not as it was generated, if the project is of
    an earlier version or for an unknown CPU, or if its models share one workspace.
    """
    record = record_of(project)
    _check(project, record)
    text = sound(project, LISTS, record.files[LISTS]).decode()
    lists = {name: tuple(map(_in_project, body.split())) for name, body in _LIST.findall(text)}
    sources = (*lists["MODEL_SOURCES"], *lists["RUNTIME_SOURCES"], *lists["CODEGEN_SOURCES"])
    includes = (*lists["PUBLIC_INCLUDES"], *lists["PRIVATE_INCLUDES"])
    names = _needed(project, record.files, sources, includes)
    own: dict[str, Any] = {name.lower(): paths for name, paths in lists.items()}
    return Component(
        name="_".join(f"tvmgen_{module.module}" for module in record.modules),
        version=record.microgen,
        digest=record.built_from,
        cpu=record.board["cpu"],
        project=record,
        files=names,
        kept_symbols=tuple(_KEPT.findall(text)),
        **own,
    )


def _check(project: Path, record: Manifest) -> None:
    if LISTS not in record.files:
        raise ProjectError(
            f"has no {LISTS}, because an earlier version of microgen generated it",
            where=str(project),
            hint="generate it again",
        )
    if record.shared_workspace:
        raise ProjectError(
            "has a shared workspace, whose parts only model/CMakeLists.txt keeps in their order",
            where=str(project),
            hint="generate it without --shared-workspace, or add model/ to the firmware with CMake",
        )
    cpu = record.board.get("cpu")
    if not isinstance(cpu, str) or cpu not in CPUS:
        raise ProjectError(
            f"names the CPU {short(repr(cpu))}, which microgen does not know",
            where=str(project / MANIFEST),
            hint="generate again",
        )


def _in_project(path: str) -> str:
    for variable, folder in _VARIABLES.items():
        if path.startswith(variable):
            return folder + path.removeprefix(variable)
    return path


def _needed(
    project: Path, known: Mapping[str, str], sources: Iterable[str], includes: Iterable[str]
) -> dict[str, bytes]:
    """The files of a component: sources, data, licences, public headers, and included files."""
    contents: dict[str, bytes] = {}
    # Data and public headers, which no source need include.
    always = [n for n in known if n.startswith(_ALWAYS) and not n.endswith(_SOURCE)]
    pending = ["LICENSE", "NOTICE", LISTS, *always, *sources]
    while pending:
        name = pending.pop()
        if name not in contents:
            # Raises ProjectError unless the file is as it was generated.
            contents[name] = sound(project, name, known[name])
            pending += _included(name, contents[name], known, includes)
    return {name: contents[name] for name in sorted(contents)}


def _included(
    name: str, text: bytes, known: Mapping[str, str], includes: Iterable[str]
) -> list[str]:
    """The project's files that a file includes. The C library's files are unknown."""
    folders = [str(PurePosixPath(name).parent), *includes]
    names = (match.decode() for match in _INCLUDE.findall(text))
    return [f"{folder}/{n}" for n in names for folder in folders if f"{folder}/{n}" in known]
