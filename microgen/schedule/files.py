"""Writes the schedules of a front to a folder."""

from __future__ import annotations

import re
from pathlib import Path

from microgen.errors import ProjectError
from microgen.files import FileTree
from microgen.schedule.file import dumps, record
from microgen.schedule.front import Front

_NAME = re.compile(r"schedule-[0-9]+\.json")


def write(front: Front, folder: Path) -> None:
    """Write ``schedule-1.json`` and so on, numbered as in the front, instead of earlier ones.

    Raises ProjectError if the folder has other files, or if it cannot be written."""
    others = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
    if foreign := [name for name in others if not _NAME.fullmatch(name)]:
        raise ProjectError(
            f"has {foreign[0]!r}, which is no schedule",
            where=str(folder),
            hint="give a new folder",
        )
    texts = [dumps(record(one.schedule)).encode() for one in front.found]
    names = [f"schedule-{number + 1}.json" for number in range(len(texts))]
    FileTree(dict(zip(names, texts, strict=True))).write_to(folder, force=True)
