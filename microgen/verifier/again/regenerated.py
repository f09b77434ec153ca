"""Generates a project again, from the model that it ships and the options that it records, and
builds it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from microgen import pipeline
from microgen.base.errors import BoardError, BuildError, CapacityError, MicrogenError, ProjectError
from microgen.base.files import FileTree, inside
from microgen.base.manifest import EstimateRecord, ModuleRecord
from microgen.base.manifest.schedule import FROM_FILE
from microgen.building import builder
from microgen.compiler import codegens, schedule
from microgen.options import Options
from microgen.project.firmware.compiled import Firmware
from microgen.project.firmware.stack_size import Stack
from microgen.target import projects
from microgen.target.board import Board
from microgen.verifier.again import recorded_options
from microgen.verifier.elf import elf
from microgen.verifier.elf.elf import Elf
from microgen.verifier.subject import Reproduction, Subject
from microgen.version import __version__


class ImpossibleError(MicrogenError):
    """The project cannot be generated or built again here, so nothing is proven about it."""


def regenerated(subject: Subject, asked: Reproduction, scratch: Path) -> FileTree:
    """The files of the project that is generated again now; ``scratch`` is an empty folder.

    Raises ImpossibleError if they cannot be generated here, ProjectError if the shipped model has
    changed, ToolError for a missing tool, and the errors with which generation refuses a model.
    """
    record = subject.manifest
    # Another version may generate other files, which proves nothing.
    if record.microgen != __version__:
        raise ImpossibleError(
            f"microgen {record.microgen!r} generated the project, this is {__version__}"
        )
    scratch.mkdir(parents=True, exist_ok=True)
    options = [
        _scheduled(own, asked, scratch / f"schedule_{number}.json")
        for number, own in enumerate(record.modules)
    ]
    models = [
        (_copied(subject, own, scratch / str(number)), options[number])
        for number, own in enumerate(record.modules)
    ]
    return _compiled(subject, models).files


def built(project: Path, settings: Mapping[str, str]) -> Elf:
    """The ELF of a project that has just been generated, built with CMake variables. Raises
    ImpossibleError if it cannot be built here, ToolError for a missing tool."""
    try:
        return elf.load(builder.build(project, settings=settings).elf)
    except (BoardError, BuildError, CapacityError) as error:
        raise ImpossibleError(f"cannot be built here: {error.what}") from error


def _compiled(subject: Subject, models: list[tuple[Path, Options]]) -> Firmware:
    board = _before_stack(projects.original(subject.manifest.board), subject.manifest.estimate)
    shared = subject.manifest.shared_workspace is not None
    return pipeline.compile_models(models, board, shared_workspace=shared)


def _before_stack(board: Board, estimate: EstimateRecord) -> Board:
    """The board without the stack, if its size was computed from the code's expected need."""
    # A project's copy of a board always names its stack, no matter who chose the size.
    planned = Stack(estimate.stack_bound, estimate.stack_margin, board.stack_bytes)
    return replace(board, has_stack=False) if planned.is_computed else board


def _copied(subject: Subject, own: ModuleRecord, folder: Path) -> Path:
    """The shipped model with its companions, under the name that it had when it was generated."""
    try:
        data = inside(subject.project, own.model.path).read_bytes()
    except ProjectError as error:
        raise ImpossibleError(f"the model is not shipped: {own.model.path} {error.what}") from error
    if hashlib.sha256(data).hexdigest() != own.model.sha256:
        raise ProjectError(f"{own.model.path} is not the model that the project was made from")
    name, kept = PurePosixPath(own.model.file), PurePosixPath(own.model.path)
    # The name is from a manifest that nobody trusts, and must not lead out of the folder.
    if name.name != own.model.file or own.model.file in ("", "..") or "\0" in name.name:
        raise ProjectError(f"the model's file is called {own.model.file!r}")
    files = {}
    for other in map(PurePosixPath, subject.manifest.files):
        # Companions of a model's file have its name with other suffixes.
        if other.parent == kept.parent and other.stem == kept.stem and other != kept:
            content = inside(subject.project, str(other)).read_bytes()
            files[name.with_suffix(other.suffix).name] = content
    files[name.name] = data
    try:
        FileTree(files).write_to(folder)
    except (ProjectError, UnicodeError) as error:
        raise ImpossibleError(f"the model cannot be written: {error}") from error
    return folder / name


def _scheduled(own: ModuleRecord, asked: Reproduction, file: Path) -> Options:
    """The options, with the recorded schedule as the user's file if the schedule was read from a
    file."""
    options = _options(own, asked)
    if own.schedule is None or own.schedule.goal != FROM_FILE:
        return options
    file.write_text(schedule.file.dumps(own.schedule), encoding="utf-8")
    return replace(options, schedule=str(file))


def _options(own: ModuleRecord, asked: Reproduction) -> Options:
    try:
        options = recorded_options.recorded(own)
    except ValueError as error:
        raise ProjectError(f"the options are none: {error}") from error
    asked_for = tuple(text.partition("=")[0] for text in asked.codegen_option)
    if asked_for != options.codegen_option:
        names = ", ".join(options.codegen_option) or "none"
        raise ImpossibleError(
            "values of code generators' options are not recorded: give with --codegen-option "
            f"those of {names!r}"
        )
    path = _codegen_path(options, asked)
    return replace(options, codegen_option=tuple(asked.codegen_option), codegen_path=path)


def _codegen_path(options: Options, asked: Reproduction) -> str:
    """The first folder that completes the code generators; empty if they are installed."""
    # Installed code generators come first, because they need no folder.
    for folders in ((), *((folder,) for folder in asked.codegen_path)):
        known = codegens.registry(*folders)
        if all(name in known for name in options.codegen):
            return str(*folders)
    wanted = repr(", ".join(options.codegen))
    raise ImpossibleError(f"not all of {wanted} are installed: give a --codegen-path")
