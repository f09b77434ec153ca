"""Builds a project so that its firmware reserves the stack that its code takes.

The linker script reserves the stack that was expected when the project was generated. The code of
other compilers and other flags may take more. Then the project is linked again with another value
of a CMake variable, so no file of the project changes, and CMake's cache records the value.
"""

from __future__ import annotations

from pathlib import Path

from microgen.base import manifest
from microgen.base.manifest import Manifest
from microgen.building import builder
from microgen.building.builder import BuildResult
from microgen.project.firmware.stack_size import reserve
from microgen.target import projects
from microgen.verifier import sizes, stack_bound
from microgen.verifier.again import built_from
from microgen.verifier.again.build_settings import STACK


def built(project: Path, *, sanitize: bool = False, anew: bool = False) -> BuildResult:
    """The firmware, built from the project's unchanged files. With ``anew`` no object file is used
    again. If the proven stack plus the margin exceeds the expected stack, the firmware reserves the
    proven stack plus the margin, unless the user or the board's file chose the stack.

    Raises the errors of ``builder.build``, and ToolError without objdump.
    """
    record = manifest.load(project)
    planned = _planned(record)
    settings = {STACK: str(planned)} if planned else {}
    made = builder.build(project, sanitize=sanitize, anew=anew, settings=settings)
    # Object files of another project were used again, so everything is compiled anew.
    if not built_from.is_of(project, made.elf):
        made = builder.build(project, sanitize=sanitize, anew=True, settings=settings)
    needed = _needed(project, record) if planned else 0
    if needed > planned:
        made = builder.build(project, settings={STACK: str(needed)})
    return made


def _planned(record: Manifest) -> int:
    """The bytes that the linker script reserves, if a build may reserve more; else 0."""
    planned = sizes.planned_stack(record)
    is_host = projects.of_project(record.board).is_host
    return 0 if is_host or not planned.is_computed else planned.reserve


def _needed(project: Path, record: Manifest) -> int:
    """The bytes that the firmware has to reserve; 0 if no bound is proven. ``verify`` reports the
    reason."""
    bound = stack_bound(project)
    return 0 if bound.problems else reserve(bound.nbytes + record.estimate.stack_margin)
