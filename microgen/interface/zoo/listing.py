"""The list of models: one path per line, relative to the list's folder, and values for it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import MicrogenError

FILE = ".npy"  # the end of a value that is a file
_MAX_BYTES = 16 << 20
_GIVEN = re.compile(r"[ \t]+--(dim|bind|state)[ \t]+([^ \t]+)")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*")


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model: the number of its line, its line, the path to open, and the values of ``--dim``,
    ``--bind`` and ``--state`` after it. Files of values have absolute paths."""

    line: int
    name: str
    path: Path
    dim: tuple[str, ...] = ()
    bind: tuple[str, ...] = ()
    state: tuple[str, ...] = ()


def read(path: Path) -> tuple[ListedModel, ...]:
    """The models of a list, each line once, in the list's order. A ``#`` at the beginning of a line
    or after a space begins a comment. Raises MicrogenError if it cannot be read or names no model.
    """
    # Paths may have bytes that are not UTF-8, as the file system has them.
    text = os.fsdecode(_content(path))
    models: dict[str, ListedModel] = {}
    for number, line in enumerate(text.split("\n"), 1):
        name = _COMMENT.sub("", line.rstrip("\r")).strip(" \t")
        if "\0" in name:
            raise MicrogenError(
                "a path cannot contain a null character",
                where=f"{path}:{number}",
                hint="give a text file with one path per line",
            )
        if name:
            models.setdefault(name, _entry(number, name, path.parent))
    if not models:
        raise MicrogenError(
            "names no model", where=str(path), hint="write one path per line; # begins a comment"
        )
    return tuple(models.values())


def _entry(number: int, line: str, folder: Path) -> ListedModel:
    flags = _GIVEN.findall(line)
    dim = tuple(value for flag, value in flags if flag == "dim")
    bind = tuple(_placed(value, folder) for flag, value in flags if flag == "bind")
    state = tuple(value for flag, value in flags if flag == "state")
    return ListedModel(number, line, folder / _GIVEN.sub("", line), dim, bind, state)


def _placed(bind: str, folder: Path) -> str:
    """The value of ``--bind``; a file's path is relative to the list's folder."""
    name, _, value = bind.rpartition("=")
    return f"{name}={(folder / value).absolute()}" if value.endswith(FILE) else bind


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():
            what = "is not a regular file" if path.exists() else "no such file"
            raise MicrogenError(what, where=str(path), hint="give a text file with paths of models")
        if path.stat().st_size > _MAX_BYTES:
            raise MicrogenError(
                f"has more than {_MAX_BYTES:,} bytes",
                where=str(path),
                hint="give a text file with one path per line",
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise MicrogenError(f"cannot be read: {reason}", where=str(path)) from None
