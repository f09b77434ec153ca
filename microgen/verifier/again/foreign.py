"""The models' functions and constants in an ELF that another build system has linked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from microgen.base.manifest import Manifest
from microgen.building import builder
from microgen.verifier.again import (
    build_settings,
    recompiled,
    recorded_flags,
    regenerated,
    same_functions,
)
from microgen.verifier.again.recompiled import Sources
from microgen.verifier.again.recorded_flags import RecordedFlags, UnknownFlagError
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.subject import Finding, Reproduction, Subject, judged, not_applicable

_EXPECTED = (
    "each function and constant of the models as it is compiled again, wherever it is linked"
)
_OBJECTS = Path(builder.BUILD, "CMakeFiles", "firmware.dir")
_NO_FLAGS = "and the ELF does not say with which flags they were compiled"


def compared(subject: Subject, asked: Reproduction, project: Path) -> Finding:
    """Compares the models' functions and constants with the freshly generated ``project``, which is
    compiled with the flags that the ELF names. If the ELF names no flags, the flags of the
    project's own build are tried, and then a difference proves nothing.

    Raises ImpossibleError if they cannot be compared.
    """
    if subject.elf.machine not in same_functions.READERS:
        raise ImpossibleError("the models' functions can be compared for Arm and RISC-V only")
    sources = recompiled.sources(project)
    try:
        flags = recompiled.recorded(subject.elf.path, sources)
    except UnknownFlagError as error:
        return Finding("failed", _EXPECTED, str(error))
    arch = architecture_of(subject.board)
    for source, own in flags.items():
        if problem := arch.abi_problem(own.flags, subject.elf):
            return Finding("failed", _EXPECTED, f"{source} is compiled with {problem}")
    return _as_said(subject, sources, flags) if flags else _as_in_project(subject, asked, sources)


def _as_said(
    subject: Subject, sources: Sources, flags: Mapping[PurePosixPath, RecordedFlags]
) -> Finding:
    """The finding for the choice of C's integer types with which the fewest functions differ."""
    findings = []
    for types, macros in recompiled.INTEGERS.items():
        objects = recompiled.compiled(sources, flags, subject.board, macros)
        how = f"compiled with {types} and {recorded_flags.described(flags)}"
        findings.append(_judged(subject, objects, how))
        # Equal bytes are a proof, whatever types the other build had.
        if findings[-1].status == "ok":
            break
    return min(findings, key=lambda finding: int(finding.values["different"]))


def _as_in_project(subject: Subject, asked: Reproduction, sources: Sources) -> Finding:
    settings = build_settings.settings(subject.elf.path, asked.levels, subject.board)
    if settings.refused:
        return not_applicable(settings.refused)
    again = regenerated.built(sources.project, settings.levels)
    # Another compiler gives other code, which proves nothing.
    missing = sorted(set(again.compilers) - set(subject.elf.compilers))
    if missing:
        named = " and ".join(subject.elf.compilers) or "none"
        return not_applicable(f"compilers that the ELF names: {named}; here it is {missing[0]}")
    objects = [sources.project / _OBJECTS / f"{source}.obj" for source in sources.files]
    how = f"compiled with {settings} and the flags of this project's CMakeLists.txt"
    finding = _judged(subject, objects, how)
    if finding.status == "failed":
        return not_applicable(f"{finding.found}, {_NO_FLAGS}: {recorded_flags.HINT}")
    return finding


def _judged(subject: Subject, objects: Sequence[Path], how: str) -> Finding:
    program = subject.elf
    files = [same_functions.read(path, program.machine) for path in objects]
    problems = list(same_functions.differences(program, files, required(subject.manifest)))
    count = same_functions.compared(program, files)
    different = len(problems)
    # A report prints the first three problems.
    if problems:
        problems[min(len(problems), 3) - 1] += f"; {how}"
    equal = f"{count} functions and objects of the models are equal, {how}"
    extent = f"{equal}; other code is not compared"
    return judged(_EXPECTED, problems, extent, compared=count, different=different)


def required(record: Manifest) -> set[str]:
    """The functions without which no model runs."""
    called = {call.function for own in record.modules for call in own.calls}
    return called | {own.entry for own in record.modules}
