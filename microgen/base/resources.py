"""Finds ``crt/``, ``templates/``, ``boards/``, ``docs/`` and LICENSE in a checkout or a wheel."""

from __future__ import annotations

import functools
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def licence() -> bytes:
    """The text of microgen's licence."""
    installed = _PACKAGE / "_data" / "LICENSE"
    return (installed if installed.is_file() else _PACKAGE.parent / "LICENSE").read_bytes()


@functools.cache
def folder(name: str) -> Path:
    """The data folder ``name`` ("crt", "templates", "boards" or "docs")."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def schema(name: str) -> str:
    """The text of a schema that microgen itself reads, from ``docs/schemas``."""
    return (folder("docs") / "schemas" / f"{name}.json").read_text(encoding="utf-8")


@functools.cache
def pages() -> dict[str, str]:
    """The documents by name: "boards" is "docs/reference/boards.md".

    The pages of single networks (``docs/benchmarks/``) are not in it: ``benchmarks`` links them.
    """
    docs = folder("docs")
    found = [*docs.glob("*.md"), *docs.glob("*/*.md")]
    named = {path.stem: f"docs/{path.relative_to(docs).as_posix()}" for path in found}
    return {name: named[name] for name in sorted(named) if "/benchmarks/" not in named[name]}


def page(name: str) -> str:
    """The text of a document that ``pages`` lists."""
    return (folder("docs").parent / pages()[name]).read_text(encoding="utf-8")
