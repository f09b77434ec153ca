"""Breaks one promise of a generated project, and checks which checks fail."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import microgen
from microgen.building import builder

Breakage = Callable[[Path], None]  # edits the project in this folder


def check(breakage: Breakage, wanted: set[str], sound: Path, project: Path) -> None:
    """Breaks a copy of ``sound`` in ``project``, and builds it.

    Exactly the checks ``wanted`` must fail, and the check of the files' digests.
    """
    shutil.copytree(sound, project, ignore=shutil.ignore_patterns("build"))
    breakage(project)
    builder.build(project)
    report = microgen.verify(project)
    failed = {check.name for check in report.failed}
    assert failed == wanted | {"project_files"}, report.to_text()
