"""Breaks one promise of a generated project, and checks which checks fail."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import microgen
from microgen.building import builder

Breakage = Callable[[Path], None]  # edits the project in this folder


def check(breakage: Breakage, wanted: set[str], sound: Path, *, anew: bool = False) -> None:
    """Breaks the copy of ``sound`` next to it, and builds it. The copy is mended for the next
    breakage, whose build compiles only what has changed since, or everything with ``anew``.

    Exactly the checks ``wanted`` must fail, and the check of the files' digests.
    """
    project = sound.with_name(f"{sound.name}_broken")
    if not project.exists():
        shutil.copytree(sound, project, ignore=shutil.ignore_patterns("build"))
    try:
        breakage(project)
        builder.build(project, anew=anew)
        report = microgen.verify(project)
    finally:
        _mend(project, sound)
    failed = {check.name for check in report.failed}
    assert failed == wanted | {"project_files"}, report.to_text()


def _mend(project: Path, sound: Path) -> None:
    """Give each file its content again. The others keep their times."""
    for path in sound.rglob("*"):
        name = path.relative_to(sound)
        if path.is_file() and name.parts[0] != "build":
            content = path.read_bytes()
            if (project / name).read_bytes() != content:
                (project / name).write_bytes(content)
