"""Temporary files in memory. Tests write some hundred thousand small files, and on a disk that can
take ten times as long."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_ROOM = 6 * 2**30  # bytes; the tests take a quarter of it


def use(folder: Path = Path("/dev/shm")) -> None:
    """Make the folder, which Linux keeps in memory, that of temporary files. If the user has named
    one, or if it has too little room or lets nobody run programs, the usual one stays."""
    if "TMPDIR" not in os.environ and _is_suitable(folder):
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = None  # it may have been found already


def _is_suitable(folder: Path) -> bool:
    return (
        folder.is_dir()
        and os.access(folder, os.W_OK | os.X_OK)
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
        and shutil.disk_usage(folder).free >= _ROOM
    )
