"""Reads untrusted ``.npz`` files. The size in an array's header is compared with the archive and
with a limit before memory is allocated for the array."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from microgen.base.errors import InputError, short
from microgen.graph.ir.graph import Array

# A limit, because a small archive can unpack to any size.
MOST_BYTES = 2**28  # of all arrays of a file
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_HOW = "write the samples with numpy.savez(FILE, **{name: array})"


def read(path: Path) -> dict[str, Array]:
    """The arrays of an ``.npz`` file by name. Raises InputError if it is not one, or is too large.
    Pickled objects are never read."""
    # A device or a pipe might never end.
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError("is not a regular file", where=str(path), hint=_HOW)
    try:
        with path.open("rb") as file:
            return dict(_arrays(file, path))
    except InputError:
        raise
    except OSError as error:
        reason = error.strerror or "it is not an .npz file"
        raise InputError(f"cannot be read: {reason}", where=str(path), hint=_HOW) from error
    except Exception as error:  # numpy and zipfile raise many kinds for a damaged archive
        raise InputError("is a damaged .npz file", where=str(path), hint=_HOW) from error


def _arrays(file: IO[bytes], path: Path) -> Iterator[tuple[str, Array]]:
    magic = np.lib.format.MAGIC_PREFIX
    # A single array has no name, so we could not know which input it is.
    if file.read(len(magic)) == magic:
        raise InputError("is one array (.npy), not an .npz", where=str(path), hint=_HOW)
    with zipfile.ZipFile(file) as archive:
        # Sizes come first: the archive's directory is small, and its members could unpack to
        # anything.
        _check_sizes(archive.infolist(), path)
        for member in archive.infolist():
            # A member cannot be rewound, so it is opened once for the header and once for the data.
            with archive.open(member) as stream:
                _check_header(stream, member, path)
            with archive.open(member) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
                stream.read()  # to the end, where the checksum is compared
            yield member.filename.removesuffix(".npy"), array


def _check_header(stream: IO[bytes], member: zipfile.ZipInfo, path: Path) -> None:
    """Refuse a header that does not agree with the data in the archive."""
    shape, _, dtype = _HEADERS[np.lib.format.read_magic(stream)](stream)
    claimed, there = math.prod(shape) * dtype.itemsize, member.file_size - stream.tell()
    # Object arrays have a pickle as data, whose size says nothing; ``read_array`` refuses them.
    if claimed != there and not dtype.hasobject:
        raise InputError(
            f"{member.filename!r} says that it is {dtype}{list(shape)}, {short(f'{claimed:,}')} "
            f"bytes, but contains {there:,}",
            where=str(path),
            hint=_HOW,
        )


def _check_sizes(members: list[zipfile.ZipInfo], path: Path) -> None:
    total = sum(member.file_size for member in members)
    if total > MOST_BYTES:
        raise InputError(
            f"its arrays take {total:,} bytes; at most {MOST_BYTES:,} are read at once",
            where=str(path),
            hint="run fewer samples at a time",
        )
