"""The files that external code generators add to a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from microgen.errors import ProjectError
from microgen.files import FileTree
from microgen.firmware.project import CODEGENS
from microgen.names import cnames
from microgen.program.made import ModuleCode
from microgen.program.types import Program


def files(programs: Iterable[Program]) -> FileTree:
    """The files of all models, which may share them. ProjectError if two have one name."""
    found: dict[str, bytes] = {}
    for code in _codes(programs):
        for name, data in code.files.items():
            path = f"{CODEGENS}/{cnames.identifier(code.codegen)}/{name}"
            if found.setdefault(path, data) != data:
                raise ProjectError(
                    f"the codegen {code.codegen} brings two files of one name",
                    where=path,
                    hint="files that depend on the model need its symbols in their names",
                )
    return FileTree(found)


def include_dirs(programs: Iterable[Program]) -> list[str]:
    """Folders below ``codegens`` that the compiler searches: each generator's own, and those that
    it names."""
    found = {
        f"{cnames.identifier(code.codegen)}/{folder}".rstrip("/"): None
        for code in _codes(programs)
        if code.files
        for folder in ("", *code.include_dirs)
    }
    return list(found)


def _codes(programs: Iterable[Program]) -> Iterator[ModuleCode]:
    return (m.code for program in programs for m in program.external_modules if m.code)
