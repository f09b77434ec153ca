"""Checks that all who read the image get the same bytes at the same addresses: debuggers and
emulators, which load segments; ``objcopy``, which copies sections; start-up code, which uses
symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from microgen.verifier.checks import model_memory
from microgen.verifier.elf import header_rules, loaded_bytes
from microgen.verifier.elf.elf import Elf, Section, Symbol
from microgen.verifier.elf.headers import ProgramHeader
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.sizes import is_only_stack
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

# Symbols of the linker script, for start-up code, that mark where a section starts and ends.
_MARKS = {
    ".data": ("__data_start", "__data_end"),
    ".bss": ("__bss_start", "__bss_end"),
    ".stack": ("__stack_limit", "__stack_top"),
}
_DATA_LOAD = "__data_load"  # from where start-up code copies .data


class Extent(NamedTuple):
    """A range of addresses or of file offsets, with the name of its contents."""

    start: int
    end: int
    what: str


def layout(subject: Subject) -> Finding:
    """Debuggers, ``objcopy`` and start-up code get the same bytes at the same addresses, and
    each loaded byte belongs to something.

    Reads: ELF header, program and section headers, symbols; plan.
    """
    if subject.board.is_host:
        return not_applicable("the host's linker and loader lay the program out")
    elf = subject.elf
    problems = [
        *_header_problems(subject, "firmware", "project"),
        *(p for segment in elf.segments for p in _segment_problems(elf, segment)),
        *_segment_overlaps(elf),
        *(p for section in _with_size(elf) for p in _section_problems(elf, section)),
        *_section_overlaps(elf),
        *(p for symbol in elf.symbols for p in _symbol_problems(elf, symbol)),
        *_mark_problems(elf),
        *_stack_problems(subject),
        *model_memory.problems(subject),
        *loaded_bytes.problems(elf, model_memory.sections(subject.manifest)),
    ]
    expected = (
        "segments, sections and symbols that agree and do not overlap; nothing unplanned in the "
        "model's sections"
    )
    counts = f"{len(elf.segments)} segments, {len(_with_size(elf))} sections, {len(elf.symbols)} "
    sizes = [{"name": section.name, "nbytes": section.size} for section in _with_size(elf)]
    return judged(expected, problems, f"{counts}symbols", sections=sizes)


def headers_only(subject: Subject) -> Finding:
    """All who load the program read its headers in the same way, whoever linked it."""
    if subject.board.is_host:
        return not_applicable("the host's linker and loader lay the program out")
    problems = [*_header_problems(subject, "firmware"), *_never_copied(subject)]
    segments, sections = len(subject.elf.segments), len(_with_size(subject.elf))
    actual = f"{segments} segments and {sections} sections"
    return judged("headers that all loaders read in the same way", problems, actual)


def _never_copied(subject: Subject) -> Iterator[str]:
    """Segments that are not loaded where they run, in a memory that no program writes."""
    for segment in subject.elf.segments:
        memory = subject.board.memory_at(segment.address)
        is_elsewhere = segment.file_size and segment.load != segment.address
        if is_elsewhere and memory is not None and memory not in subject.board.rams:
            where = f"{segment} runs in {memory.name}"
            yield f"{where}, is loaded at {segment.load:#x}, and nothing can copy it from there"


def _header_problems(subject: Subject, *kinds: header_rules.Kind) -> Iterator[str]:
    """Headers that loaders read differently. A program that is not from a file has no headers."""
    elf = subject.elf
    if elf.headers is not None:
        yield from header_rules.problems(elf.headers, *kinds)
    expected = architecture_of(subject.board).elf_machine
    if elf.machine != expected:
        yield f"e_machine is {elf.machine}, the board's core has {expected}"


def _with_size(elf: Elf) -> list[Section]:
    return [section for section in elf.sections if section.size]


def _segment_problems(elf: Elf, segment: ProgramHeader) -> Iterator[str]:
    inside = [s for s in _with_size(elf) if segment.address <= s.address and s.end <= segment.end]
    loaded = [section for section in inside if section.has_bytes]
    # Start-up code copies initial values of variables, and nothing else.
    if segment.load != segment.address and not (loaded and all(s.writable for s in loaded)):
        yield f"{segment} is loaded at {segment.load:#x}, and nothing copies it from there"
    yield from _boundary_problems(elf, segment, inside, loaded)


def _boundary_problems(
    elf: Elf, segment: ProgramHeader, inside: list[Section], loaded: list[Section]
) -> Iterator[str]:
    """Problems of segments with other bytes than their sections and the gaps for the sections'
    alignment."""
    start = segment.address
    if start != min((s.address for s in inside), default=start):
        yield f"{segment} does not start with a section"
    if segment.end != max((s.end for s in inside), default=start):
        yield f"{segment} has {segment.size} bytes, more than its sections"
    loaded_end = max((s.end for s in loaded), default=start)
    if segment.file_end < loaded_end or not _is_zero(elf, loaded_end, segment.file_end):
        yield f"{segment} has {segment.file_size} bytes in the file, its sections have others"
    for before, after in pairwise(sorted(inside, key=lambda s: s.address)):
        if after.address - before.end >= max(after.alignment, 1):
            yield f"{segment} has bytes of no section from {before.end:#x} to {after.address:#x}"


def _is_zero(elf: Elf, start: int, end: int) -> bool:
    """Whether the file has only zeros in the extent."""
    # GNU strip writes zeros for a NOBITS section whose segment ends with an empty section of bytes,
    # as lld makes it.
    return start >= end or not any(elf.read(start, end - start) or b"\1")


def _segment_overlaps(elf: Elf) -> Iterator[str]:
    titled = [(s, str(s)) for s in elf.segments]
    yield from overlaps([Extent(s.address, s.end, name) for s, name in titled], "in memory")
    # A segment without bytes in the file reserves its place there, too.
    loads = [Extent(s.load, s.load + (s.file_size or s.size), name) for s, name in titled]
    yield from overlaps(loads, "when loaded")
    files = [Extent(s.offset, s.offset + s.file_size, name) for s, name in titled]
    yield from overlaps(files, "in the file")


def _section_overlaps(elf: Elf) -> Iterator[str]:
    sections = _with_size(elf)
    yield from overlaps([Extent(s.address, s.end, s.name) for s in sections], "in memory")
    files = [Extent(s.offset, s.offset + s.size, s.name) for s in sections if s.has_bytes]
    yield from overlaps(files, "in the file")


def overlaps(extents: Iterable[Extent], where: str) -> Iterator[str]:
    """Each extent that overlaps an extent that starts before it."""
    # Extents are sorted by their starts, so only the extent that ends last can reach into the next
    # one.
    last = Extent(0, 0, "")
    for extent in sorted(extents):
        # An empty extent does not overlap the extent in which it starts.
        if extent.start < min(last.end, extent.end):
            yield f"{last.what} and {extent.what} overlap {where} at {extent.start:#x}"
        last = max(last, extent, key=lambda e: e.end)


def _section_problems(elf: Elf, section: Section) -> Iterator[str]:
    name = section.name
    if section.address % max(section.alignment, 1):
        yield f"{name} at {section.address:#x} is not aligned to {section.alignment}"
    around = [s for s in elf.segments if s.address <= section.address and section.end <= s.end]
    if len(around) != 1:
        yield f"{name} is in {len(around)} segments, not in one"


def _symbol_problems(elf: Elf, symbol: Symbol) -> Iterator[str]:
    is_sized = symbol.kind in ("object", "func")
    section = next((s for s in elf.sections if s.name == symbol.section), None)
    if section is None:
        if is_sized:
            yield f"{symbol.name} is in {symbol.section or 'no section'}, which takes no memory"
        return
    start = elf.code_address(symbol) if symbol.kind == "func" else symbol.address
    if not is_sized and not symbol.size:  # a mark: linker scripts may set it to any address
        return
    if not section.address <= start <= start + symbol.size <= section.end:
        yield f"{symbol} is not inside it ({section.address:#x} to {section.end:#x})"
    # An empty object at the end would be in the next section as well.
    elif is_sized and start == section.end:
        yield f"{symbol} is at its end"


def _mark_problems(elf: Elf) -> Iterator[str]:
    """Problems of the linker script's symbols, between which start-up code clears, copies and
    paints bytes."""
    sections = {section.name: section for section in elf.sections}
    for name, marks in _MARKS.items():
        if (section := sections.get(name)) is None:
            continue
        for mark, address in zip(marks, (section.address, section.end), strict=True):
            for symbol in elf.named(mark):
                if symbol.address != address:
                    yield f"{mark} is {symbol.address:#x}, the bound of {name} is {address:#x}"
    data = sections.get(".data")
    for symbol in elf.named(_DATA_LOAD) if data and data.size else ():
        if data and symbol.address != data.load:
            yield f"{_DATA_LOAD} is {symbol.address:#x}, .data is loaded at {data.load:#x}"


def _stack_problems(subject: Subject) -> Iterator[str]:
    """Sections and symbols in the memory that the board reserves for the stack."""
    elf, board = subject.elf, subject.board
    top = architecture_of(board).stack_top(elf, board)
    stack = Extent(top - board.stack_bytes, top, "the stack")
    others = [s for s in _with_size(elf) if not is_only_stack(elf, board, s)]
    extents = [Extent(s.address, s.end, s.name) for s in others]
    extents += [Extent(s.address, s.end, s.name) for s in elf.symbols if s.kind == "object"]
    for extent in extents:
        if extent.start < stack.end and stack.start < extent.end:
            yield f"{extent.what} is in the memory of the stack at {extent.start:#x}"
            return
