"""Finds ``crt/``, ``templates/``, ``boards/`` and LICENSE in a checkout or an installed wheel."""

from __future__ import annotations

import functools
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def licence() -> bytes:
    """The text of microgen's licence."""
    installed = _PACKAGE / "_data" / "LICENSE"
    return (installed if installed.is_file() else _PACKAGE.parent / "LICENSE").read_bytes()


@functools.cache
def folder(name: str) -> Path:
    """The data folder ``name`` ("crt", "templates" or "boards")."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def schema(name: str) -> str:
    """The text of a schema that microgen itself reads, from ``docs/schemas``."""
    installed = _PACKAGE / "_data" / "schemas"
    place = installed if installed.is_dir() else _PACKAGE.parent / "docs" / "schemas"
    return (place / f"{name}.json").read_text(encoding="utf-8")
