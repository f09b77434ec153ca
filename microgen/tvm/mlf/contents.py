"""The files of a library, from an archive or a folder, with limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import ModelError
from microgen.tvm.mlf import tar

METADATA = "metadata.json"


@dataclass(frozen=True, slots=True)
class Contents:
    """``sizes`` in bytes by path, sorted; ``read`` gives a file's content."""

    where: str
    sizes: Mapping[str, int]
    read: Callable[[str], bytes]


def load(path: Path) -> Contents:
    """The files of an archive or a folder. Nothing is written; links are not followed.

    Raises ModelError for a malformed archive, a link, or more than ``tar.MAX_BYTES``.
    """
    try:
        return _folder(path) if path.is_dir() else _archive(path)
    except ModelError as error:
        raise ModelError(error.what, where=str(path)) from error
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", where=str(path)) from error


def _archive(path: Path) -> Contents:
    files = tar.read(_bounded(path))
    sizes = {name: len(files[name]) for name in sorted(files)}
    return Contents(str(path), sizes, files.__getitem__)


def _folder(root: Path) -> Contents:
    sizes: dict[str, int] = {}
    for folder, folders, names in os.walk(root):
        # os.walk enters folders in this order, so the file system does not decide which error comes
        # first.
        folders.sort()
        for name in (*names, *folders):
            path = Path(folder) / name
            relative = path.relative_to(root).as_posix()
            # A link could lead out of the folder, and a device could block.
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise ModelError(f"holds {relative!r}, which is neither a file nor a folder")
            if path.is_file():
                sizes[tar.relative(relative)] = path.stat().st_size
        if len(sizes) > tar.MAX_MEMBERS:
            raise ModelError(f"has more than {tar.MAX_MEMBERS:,} files")
    return Contents(
        str(root), {name: sizes[name] for name in sorted(sizes)}, lambda n: _bounded(root / n)
    )


def _bounded(path: Path) -> bytes:
    with path.open("rb") as file:
        # Not by the size from stat: a file may grow, and a device has none.
        data = file.read(tar.MAX_BYTES + 1)
    if len(data) > tar.MAX_BYTES:
        raise ModelError(f"has more than {tar.MAX_BYTES:,} bytes")
    return data
