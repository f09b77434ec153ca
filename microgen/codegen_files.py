"""Files that external code generators bring of their own, below ``codegens/`` of a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from microgen import cnames
from microgen.errors import ProjectError
from microgen.external_modules import ModuleCode
from microgen.files import FileTree
from microgen.program import Program
from microgen.project import CODEGENS


def merged(programs: Sequence[Program]) -> FileTree:
    """The files of all models; equal ones, as a library's for several models are, once.

    Raises ProjectError for two contents of one file.
    """
    files: dict[str, bytes] = {}
    for code in _codes(programs):
        folder = f"{CODEGENS}/{cnames.identifier(code.codegen)}"
        for name, data in code.files.items():
            if files.setdefault(f"{folder}/{name}", data) != data:
                raise ProjectError(
                    f"codegen {code.codegen} brings this file with two contents",
                    where=f"{folder}/{name}",
                    hint="files that depend on the model need its symbols in their names",
                )
    return FileTree(files)


def include_dirs(programs: Sequence[Program]) -> list[str]:
    """The folders in which these files' headers are, below ``codegens/``."""
    found = {
        f"{cnames.identifier(code.codegen)}/{folder}".rstrip("/"): None
        for code in _codes(programs)
        if code.files
        for folder in ("", *code.include_dirs)
    }
    return list(found)


def _codes(programs: Sequence[Program]) -> Iterator[ModuleCode]:
    return (m.code for program in programs for m in program.external_modules if m.code)
