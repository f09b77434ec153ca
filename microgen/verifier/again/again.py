"""Generates a firmware's project again, builds it again, and compares."""

from __future__ import annotations

from pathlib import Path

from microgen.base.errors import MicrogenError, ToolError
from microgen.building import guard
from microgen.verifier import sizes
from microgen.verifier.again import build_settings, foreign, regenerated, same_files, same_image
from microgen.verifier.again.build_settings import Settings
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.elf.elf import Elf
from microgen.verifier.subject import Finding, Reproduction, Subject, judged, not_applicable

_EXPECTED = "the files and the image that the shipped model gives when generated and built again"


def compared(subject: Subject, asked: Reproduction) -> Finding:
    """The finding of ``reproduce``. It is ``n/a`` if the project cannot be generated or built here,
    and never ok without a comparison."""
    try:
        with guard.scratch() as scratch:
            return _reproduced(subject, asked, scratch)
    except (ImpossibleError, ToolError) as error:
        # This proves nothing about the firmware.
        return not_applicable(str(error))
    except MicrogenError as error:
        return Finding("failed", _EXPECTED, f"the project cannot be generated again: {error}")


def _reproduced(subject: Subject, asked: Reproduction, scratch: Path) -> Finding:
    files = regenerated.regenerated(subject, asked, scratch)
    problems = same_files.differences(subject.project, subject.manifest, files)
    if problems:
        return judged(_EXPECTED, problems, "", files=len(files.files))
    project = scratch / "project"
    if subject.scope == "model":
        files.write_to(project)
        return foreign.compared(subject, asked, project)
    settings = build_settings.settings(subject.elf.path, asked.levels, subject.board)
    if settings.refused:
        return not_applicable(settings.refused)
    files.write_to(project)
    reserved = build_settings.stack(sizes.board_of(subject.elf, subject.manifest))
    again = regenerated.built(project, {**settings.levels, **reserved})
    return _compared(subject.elf, again, settings, len(files.files))


def _compared(original: Elf, again: Elf, settings: Settings, files: int) -> Finding:
    problems = list(same_image.differences(original, again))
    # Another compiler makes other code, so a difference proves nothing.
    if problems and original.compilers != again.compilers:
        return not_applicable(
            f"{_named(original)} built the ELF, and {_named(again)} built it again"
        )
    # A report prints the first three problems.
    if problems:
        problems[min(len(problems), 3) - 1] += f"; built with {settings}"
    nbytes = sum(len(data) for _, data in again.image())
    equal = f"{files} files, {nbytes:,} bytes and {len(again.symbols)} symbols are equal"
    return judged(_EXPECTED, problems, f"{equal}; {settings}", files=files, bytes=nbytes)


def _named(program: Elf) -> str:
    return " and ".join(program.compilers) or "a compiler that it does not name"
