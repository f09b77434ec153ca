"""The files that external code generators add to a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from microgen.base.errors import ProjectError
from microgen.base.files import FileTree
from microgen.base.names import cnames
from microgen.planner.program.external import ExternalModule, Made
from microgen.planner.program.types import Program
from microgen.project.firmware.project import CODEGENS


def files(programs: Iterable[Program]) -> FileTree:
    """The files of all models, which may share them. ProjectError if two have one name."""
    contents: dict[str, bytes] = {}
    for module, made in _made(programs):
        for name, data in made.files.items():
            path = f"{CODEGENS}/{cnames.identifier(module.codegen)}/{name}"
            if contents.setdefault(path, data) != data:
                raise ProjectError(
                    f"the codegen {module.codegen} makes two different files of this name",
                    where=path,
                    hint="files that depend on the model need its symbols in their names",
                )
    return FileTree(contents)


def include_dirs(programs: Iterable[Program]) -> list[str]:
    """Folders below ``codegens`` in which the compiler finds headers: each generator's own, and
    the folders that it names."""
    folders = {
        f"{cnames.identifier(module.codegen)}/{folder}".rstrip("/"): None
        for module, made in _made(programs)
        if made.files
        for folder in ("", *made.include_dirs)
    }
    return list(folders)


def _made(programs: Iterable[Program]) -> Iterator[tuple[ExternalModule, Made]]:
    return ((m, m.made) for p in programs for m in p.external_modules if m.made)
