"""Reads the files of a model."""

from __future__ import annotations

import stat
from pathlib import Path

from microgen.errors import MicrogenError

# Offsets in a flatbuffer are 32 bits wide, and those that point backwards are signed.
_MAX_FILE_BYTES = 2**31 - 1
HEAD_BYTES = 16  # in which a format may recognise its files


def head(path: Path) -> bytes:
    """The first bytes of a regular file; empty for anything else, and for what cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except (OSError, ValueError):  # ValueError: a path with a null character
        return b""


def read(path: Path) -> bytes:
    """The file's bytes. Only a regular file is opened, because reading from a pipe or a device
    might never end. Raises MicrogenError for anything else, and for a file that is too large or
    cannot be read."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise MicrogenError("is not a regular file", where=str(path), hint="give a model file")
        if status.st_size > _MAX_FILE_BYTES:
            raise MicrogenError(
                f"has {status.st_size} bytes; a model file has at most {_MAX_FILE_BYTES}",
                where=str(path),
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise MicrogenError("no such file", where=str(path), hint="check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise MicrogenError(
            f"cannot be read: {reason}", where=str(path), hint="check the path and its permissions"
        ) from None
