"""Checks of the image: segments, build attributes, project files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from microgen.base import manifest
from microgen.base.errors import ProjectError
from microgen.base.files import OWN_MAIN
from microgen.verifier.elf.elf import Elf
from microgen.verifier.elf.headers import ProgramHeader
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.subject import Finding, Subject, content, judged, not_applicable


def segments(subject: Subject) -> Finding:
    """No segment is both writable and executable; each starts in a memory of the board that has the
    rights it needs, and is loaded from one; each is writable or executable if and only if its
    sections are (start-up code may clear sections that an ELF does not mark as writable).

    ``sections_fit`` checks that segments also end in these memories.

    Reads: program headers, sections; board.
    """
    problems = [
        f"{segment} is writable and executable"
        for segment in subject.elf.segments
        if {"w", "x"} <= set(segment.rights)
    ]
    expected = "no segment is writable and executable"
    if not subject.board.is_host:
        names = ", ".join(memory.name for memory in subject.board.memories)
        expected += f"; each is in {names}, with the rights that memory and sections have"
        for segment in subject.elf.segments:
            problems += _segment_problems(subject, segment)
            problems += _rights_problems(subject.elf, segment)
    actual = ", ".join(f"{s.address:#x}+{s.size:#x} {s.rights}" for s in subject.elf.segments)
    return judged(expected, problems, actual)


def _segment_problems(subject: Subject, segment: ProgramHeader) -> Iterator[str]:
    memory = subject.board.memory_at(segment.address)
    if memory is None:
        yield f"{segment} is in none of the board's memories"
    elif "w" in segment.rights and "w" not in memory.access:
        yield f"{segment} is writable, but {memory.name} is not"
    # A writable segment is reported by the rule about writable and executable segments.
    elif segment.rights == "rx" and "x" not in memory.access:
        yield f"{segment} is executable, but {memory.name} is not"
    if segment.file_size and subject.board.memory_at(segment.load) is None:
        yield f"{segment} is loaded at {segment.load:#x}, in no memory"


def _rights_problems(elf: Elf, segment: ProgramHeader) -> Iterator[str]:
    """Rights that the segment lacks but its sections need, or that no section needs."""
    sections = [
        section for section in elf.sections if section.size and segment.holds(section.address)
    ]
    if "r" not in segment.rights:
        yield f"{segment} cannot be read"
    for section in sections:
        if section.writable and section.executable:
            yield f"{section.name} is writable and executable"
        if section.writable and "w" not in segment.rights:
            yield f"{segment} is not writable, {section.name} in it is"
        # Start-up code clears sections without bytes, which an ELF need not mark as writable.
        if section.has_bytes and not section.writable and "w" in segment.rights:
            yield f"{segment} is writable, {section.name} in it is not"
    if any(section.executable for section in sections) != ("x" in segment.rights):
        yield f"{segment} is {segment.rights}, its sections need other rights"


def build_attributes(subject: Subject) -> Finding:
    """Architecture (profile, extensions) and float calling convention are the CPU's, in the
    attributes and in ``e_flags``; nothing uses an FPU, DSP instructions or MVE that it lacks.

    Reads: ``.ARM.attributes``, ``.riscv.attributes``, ELF header; board's CPU.
    """
    cpu = subject.board.cpu
    if not cpu.attributes:
        return not_applicable("the format has no build attributes for this CPU")
    wanted, actual = architecture_of(subject.board).attributes(cpu, subject.elf)
    problems = [
        f"{tag} is {actual.get(tag) or 'absent'}, expected {value}"
        for tag, value in wanted.items()
        if actual.get(tag) != value
    ]
    return judged(_tags(wanted), problems, _tags({tag: actual.get(tag, "") for tag in wanted}))


def runs_model(subject: Subject) -> Finding:
    """The core that the ELF is built for runs the code of the model's CPU."""
    cpu = subject.board.cpu
    if not cpu.attributes:
        return not_applicable("the format has no build attributes for this CPU")
    missing = architecture_of(subject.board).missing(cpu, subject.elf)
    tags = _tags(subject.elf.attributes) or "no build attributes"
    problems = [f"{missing} is missing: {tags}"] if missing else []
    problems += filter(None, [architecture_of(subject.board).flags_problem(subject.elf)])
    return judged(f"a core that runs code for {cpu.title}", problems, tags)


def _tags(values: Mapping[str, str]) -> str:
    return ", ".join(f"{tag}: {value}" for tag, value in values.items())


def project_files(subject: Subject) -> Finding:
    """Each generated file is unchanged, and so is ``microgen.json``, which has a digest of
    itself. This finds accidental edits, not forgeries. In the scope ``model``, ``src/main.c``
    may have been replaced.

    Reads: the project's files; digests of the manifest.
    """
    if not subject.with_project_files:
        return not_applicable("switched off")
    problems, replaced = [], ""
    if not manifest.is_as_written(subject.project):
        problems.append("microgen.json has changed")
    for name, digest in sorted(subject.manifest.files.items()):
        try:
            data = content(subject.project, name)
        except ProjectError as error:
            problems.append(f"{name} {error.what}")
            continue
        if hashlib.sha256(data).hexdigest() == digest:
            continue
        if subject.scope == "model" and name == OWN_MAIN:
            replaced = f"; {OWN_MAIN} has been replaced"
        else:
            problems.append(f"{name} has changed")
    count = len(subject.manifest.files)
    actual = f"{count - bool(replaced)} files as generated{replaced}"
    return judged(f"{count} files as generated", problems, actual, files=count)
