"""A generated project with a promise broken, and the checks that see it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import microgen
from microgen.building import builder

Breakage = Callable[[Path], None]  # edits the project that it is given


def check(breakage: Breakage, wanted: set[str], sound: Path, project: Path) -> None:
    """Break a copy of a project, ``project``, and build it: without digests the checks ``wanted``
    fail and no others, and digests tell, too."""
    shutil.copytree(sound, project, ignore=shutil.ignore_patterns("build"))
    breakage(project)
    builder.build(project)
    report = microgen.verify(project, project_files=False)
    assert {check.name for check in report.failed} == wanted, report.to_text()
    assert microgen.verify(project).check("project_files").status == "failed"
