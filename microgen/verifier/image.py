"""Checks of the image: entry point, vector table, segments, build attributes, project files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from microgen.target.board import Memory
from microgen.verifier.elf import Segment
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

RESET = 1
# Exception numbers of the vector table; Armv6-M has only the first two faults.
# Source: Armv7-M Architecture Reference Manual, B1.5.2.
_FAULTS = {2: "NMI", 3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault"}
_V6M_FAULTS = (2, 3)
_STACK_ALIGNMENT = 8


def vector(subject: Subject, number: int) -> int:
    """Word ``number`` of the vector table, which lies at the start of flash; 0 if absent."""
    origin = subject.board.memory(subject.board.flash).origin
    return subject.elf.word(origin + 4 * number) or 0


def fault_numbers(subject: Subject) -> tuple[int, ...]:
    """The exception numbers of the faults that the board's CPU has."""
    is_v6m = dict(subject.board.cpu.attributes).get("Tag_CPU_arch") in ("v6-M", "v6S-M")
    return _V6M_FAULTS if is_v6m else tuple(_FAULTS)


def entry_point(subject: Subject) -> Finding:
    """The ELF's entry is a function symbol in executable memory; on a board, the reset handler."""
    entry = subject.elf.entry
    names = [s.name for s in subject.elf.functions() if s.address == entry]
    problems = []
    if not names:
        problems.append(f"no function symbol at the entry point {entry:#x}")
    if not _is_code(subject, entry):
        problems.append(f"the entry point {entry:#x} is not in an executable section")
    if not subject.board.is_host and entry != vector(subject, RESET):
        problems.append(
            f"the entry point is {entry:#x}, the reset vector {vector(subject, RESET):#x}"
        )
    expected = "a function" if subject.board.is_host else "the reset handler, a function"
    return judged(expected, problems, f"{', '.join(names)} at {entry:#x}")


def vector_table(subject: Subject) -> Finding:
    """Initial stack pointer in RAM and aligned; reset and fault vectors in code, Thumb bit set."""
    if subject.board.is_host:
        return not_applicable("the host has no vector table")
    ram = subject.board.memory(subject.board.ram)
    top = vector(subject, 0)
    problems = []
    if not ram.origin < top <= ram.origin + ram.length:
        problems.append(f"the initial stack pointer {top:#x} is outside {ram.name}")
    if top % _STACK_ALIGNMENT:
        problems.append(f"the initial stack pointer {top:#x} is not aligned to 8")
    handlers = {RESET: "Reset", **{n: _FAULTS[n] for n in fault_numbers(subject)}}
    for number, name in handlers.items():
        problems += _vector_problems(subject, name, vector(subject, number))
    expected = (
        f"stack pointer in {ram.name} and aligned to 8; {', '.join(handlers.values())} in code"
    )
    return judged(expected, problems, f"stack pointer {top:#x}, reset {vector(subject, RESET):#x}")


def _vector_problems(subject: Subject, name: str, address: int) -> Iterator[str]:
    if not address & 1:
        yield f"the {name} vector {address:#x} has no Thumb bit"
    elif not _is_code(subject, address & ~1):
        yield f"the {name} vector {address:#x} is not in an executable section"


def _is_code(subject: Subject, address: int) -> bool:
    section = subject.elf.section_at(address)
    return section is not None and section.executable


def segments(subject: Subject) -> Finding:
    """Each segment starts in a memory of the board that allows what it asks for; none is writable
    and executable at once. Whether it ends there too is ``sections_fit``."""
    problems = [
        f"the segment at {segment.address:#x} is writable and executable"
        for segment in subject.elf.segments
        if {"w", "x"} <= set(segment.rights)
    ]
    expected = "no segment writable and executable"
    if not subject.board.is_host:
        names = ", ".join(memory.name for memory in subject.board.memories)
        expected += f"; each in {names}, with the rights that the memory has"
        for segment in subject.elf.segments:
            problems += _segment_problems(subject, segment)
    found = ", ".join(f"{s.address:#x}+{s.size:#x} {s.rights}" for s in subject.elf.segments)
    return judged(expected, problems, found)


def _segment_problems(subject: Subject, segment: Segment) -> Iterator[str]:
    memory = memory_at(subject, segment.address)
    if memory is None:
        yield f"the segment at {segment.address:#x} is in none of the board's memories"
    elif "w" in segment.rights and "w" not in memory.access:
        yield f"the segment at {segment.address:#x} is writable, {memory.name} is not"
    elif segment.rights == "rx" and "x" not in memory.access:
        yield f"the segment at {segment.address:#x} is executable, {memory.name} is not"
    if segment.file_size and memory_at(subject, segment.load) is None:
        yield f"the segment at {segment.address:#x} is loaded at {segment.load:#x}, in no memory"


def memory_at(subject: Subject, address: int) -> Memory | None:
    """The board's memory that holds the address."""
    memories = subject.board.memories
    return next((m for m in memories if m.origin <= address < m.origin + m.length), None)


def build_attributes(subject: Subject) -> Finding:
    """``.ARM.attributes`` names the board's architecture, profile and float calling convention."""
    if not subject.board.cpu.attributes:
        return not_applicable("the format has no build attributes for this CPU")
    wanted = dict(subject.board.cpu.attributes)
    is_hard = "-mfloat-abi=hard" in subject.board.cpu.cflags
    wanted["Tag_ABI_VFP_args"] = "VFP registers" if is_hard else "AAPCS"
    # A value of 0 is not written into the file.
    found = {"Tag_ABI_VFP_args": "AAPCS", **subject.elf.attributes}
    problems = [
        f"{tag} is {found.get(tag, 'absent')}, expected {value}"
        for tag, value in wanted.items()
        if found.get(tag) != value
    ]
    return judged(_tags(wanted), problems, _tags({tag: found.get(tag, "") for tag in wanted}))


def _tags(values: dict[str, str]) -> str:
    return ", ".join(f"{tag}: {value}" for tag, value in values.items())


def project_files(subject: Subject) -> Finding:
    """Each file that microgen generated is as it was."""
    if not subject.with_project_files:
        return not_applicable("switched off")
    problems = []
    for name, digest in sorted(subject.manifest.files.items()):
        try:
            content = (subject.project / name).read_bytes()
        except OSError:
            problems.append(f"{name} is missing")
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            problems.append(f"{name} has changed")
    count = len(subject.manifest.files)
    return judged(f"{count} files as generated", problems, f"{count} files as generated")
