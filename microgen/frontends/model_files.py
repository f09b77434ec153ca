"""Reads the files of a model."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from microgen.base.errors import MicrogenError
from microgen.base.files import content

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
