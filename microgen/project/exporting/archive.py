"""Zip archives that depend on nothing but their contents."""

from __future__ import annotations

import io
import zipfile

from microgen.base.files import FileTree

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
_UNIX = 3
_MODE = 0o100644 << 16


def zipped(tree: FileTree) -> bytes:
    """An archive of the files, sorted. They are stored, because compressed bytes depend on the
    version of zlib."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(tree.files):
            member = zipfile.ZipInfo(name, _DATE)
            member.create_system = _UNIX
            member.external_attr = _MODE
            archive.writestr(member, tree.files[name])
    return buffer.getvalue()
