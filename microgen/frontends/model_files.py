"""Reads the files of a model."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from microgen.base.errors import MicrogenError
from microgen.base.files import content
from microgen.base.pieces import BYTES, LargeContent

# Offsets in a flatbuffer are 32 bits wide, and backward offsets are signed.
_MAX_FILE_BYTES = 2**31 - 1
HEAD_BYTES = 16  # in which a format may recognise its files


def head(path: Path) -> bytes:
    """The first bytes of a regular file; empty for anything else, and for unreadable files."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except (OSError, ValueError):  # ValueError: a path with a null character
        return b""


def size(path: Path) -> int:
    """The number of bytes of a regular file. Raises MicrogenError for anything else."""
    with _read(path):
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise MicrogenError("is not a regular file", where=str(path), hint="give a file")
        return status.st_size


def part(path: Path, offset: int, length: int) -> bytes:
    """A part of the bytes of a regular file, which must reach to the part's end. Raises
    MicrogenError if it cannot be read."""
    with _read(path), path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


class _OpenFile:
    """A file that can be read until there is no reference to this object, also if it is removed in
    the meantime."""

    def __init__(self, path: Path) -> None:
        self.number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self.stamp = self.now()

    def now(self) -> tuple[int, int]:
        """Its size, and when it was changed last."""
        status = os.fstat(self.number)
        return status.st_size, status.st_mtime_ns

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):  # it could not be opened
            os.close(self.number)


def pieces(path: Path) -> LargeContent:
    """The content of a regular file. It raises MicrogenError if it cannot be read, or if the file
    has changed since this call."""
    with _read(path):
        file = _OpenFile(path)

    def part_at(offset: int) -> bytes:
        with _read(path):
            os.lseek(file.number, offset, os.SEEK_SET)
            return os.read(file.number, BYTES)

    def make() -> Iterator[bytes]:
        offset = 0
        while piece := part_at(offset):
            yield piece
            offset += len(piece)
        if file.now() != file.stamp:
            raise MicrogenError(
                "has changed while it was compiled", where=str(path), hint="compile it again"
            )

    return LargeContent(make)


def contains(path: Path, word: bytes) -> bool:
    """Whether a regular file has these bytes. Raises MicrogenError if it cannot be read."""
    last = b""
    for piece in pieces(path):
        text = last + piece
        if word in text:
            return True
        last = text[-len(word) :]
    return False


@contextlib.contextmanager
def _read(path: Path) -> Iterator[None]:
    """Turn errors of the file system inside into MicrogenError."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise MicrogenError(
            f"cannot be read: {reason}", where=str(path), hint="check the path and its permissions"
        ) from None


def read(path: Path) -> bytes:
    """The file's bytes. Raises MicrogenError as ``files.content`` does."""
    return content(path, "a model file", _MAX_FILE_BYTES)


def read_beside(path: Path, suffixes: Iterable[str]) -> dict[str, bytes]:
    """The bytes of the files next to a file that have its name and one of these suffixes, by
    suffix. Raises as ``read`` does."""
    others = {suffix: path.with_suffix(suffix) for suffix in suffixes}
    return {suffix: read(other) for suffix, other in others.items() if other.exists()}
