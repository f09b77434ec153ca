"""Reads the files of a model."""

from __future__ import annotations

import stat
from pathlib import Path

from microgen.files import content

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
    """The file's bytes. Raises MicrogenError as ``files.content`` does."""
    return content(path, "a model file", _MAX_FILE_BYTES)
