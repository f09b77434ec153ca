"""Checks that each byte that is loaded belongs to something with a name, or is known padding."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from microgen.verifier.elf.elf import Elf, Section
from microgen.verifier.elf.headers import ProgramHeader

# Sections of the project's linker script whose constants need no names, because compilers do not
# name texts, tables of a switch, initial values of C's local arrays and constants of floats. No
# code runs from there: ``stack`` follows all code, and a jump to anything else fails.
_UNNAMED = (".rodata",)

# The fill that compilers, assemblers and linkers put into gaps in code: zeros; nop and mov r8, r8
# of Thumb; nop.w; udf, which the linker script requests from lld; c.nop and nop of RISC-V. Other
# gaps have zeros.
_PADDING = {
    "EM_ARM": re.compile(rb"(?:\0|\x00\xbf|\xc0\x46|\xaf\xf3\x00\x80|\xde)*"),
    "EM_RISCV": re.compile(rb"(?:\0|\x01\x00|\x13\x00\x00\x00)*"),
}
# Functions of GCC's libgcc for Arm that have no size: they reach to the next function. The list
# omits functions that unwind the stack or call non-secure code, because no C code of ours needs
# them.
_UNSIZED = frozenset(
    {
        *("__aeabi_ldivmod", "__aeabi_uldivmod", "__aeabi_idiv", "__aeabi_uidiv"),
        *("__aeabi_drsub", "__clzdi2"),
    }
)
_LONGEST_UNSIZED = 512  # bytes; the longest has 460
_LEAST_ALIGNMENT = 4  # of a linker script's sections


def problems(elf: Elf, measured: Collection[str] = ()) -> Iterator[str]:
    """Loaded bytes that are neither padding nor in a function with its literals, an object, or a
    section of unnamed constants. ``measured`` are the model's sections, which may have longer gaps:
    ``model_memory`` compares their lengths."""
    yield from _overlaps(elf)
    named = _named(elf)
    for segment in elf.segments:
        for start, end in _unnamed(segment, named):
            yield from _unknown(elf, start, end, measured)


def _named(elf: Elf) -> list[tuple[int, int]]:
    """The extents of functions and objects by address."""
    extents, unsized = [], []
    for symbol in elf.symbols:
        start = elf.code_address(symbol) if symbol.kind == "func" else symbol.address
        if symbol.size and symbol.kind in ("func", "object"):
            extents.append((start, start + symbol.size))
        elif symbol.kind == "func" and symbol.name in _UNSIZED:
            unsized.append(start)
    # The next symbol ends a function without a size.
    starts = sorted({start for start, _ in extents} | {*unsized})
    for start in unsized:
        end = next((other for other in starts if other > start), start + _LONGEST_UNSIZED)
        section = elf.section_at(start)
        end = min(end, section.end) if section else start
        extents.append((start, min(end, start + _LONGEST_UNSIZED)))
    return sorted(extents)


def _overlaps(elf: Elf) -> Iterator[str]:
    """Functions that overlap another extent."""
    extents = sorted(
        {
            (elf.code_address(s) if s.kind == "func" else s.address, s.size, s.kind): s.name
            for s in elf.symbols
            if s.size and s.kind in ("func", "object")
        }.items()
    )
    last = extents[:1]
    for own in extents[1:]:
        ((start, size, kind), name), ((before, length, other), longest) = own, *last
        is_inside = start < before + length and "func" in (kind, other)
        # A long function could give a name to anything. Only the compiler's library, whose names
        # are reserved, has functions inside of others.
        if is_inside and not (name.startswith("__") and longest.startswith("__")):
            yield f"{longest} and {name} overlap at {start:#x}"
        # The next extent may only begin in the extent that reaches farthest.
        last = [own] if start + size > before + length else last


def _unnamed(segment: ProgramHeader, named: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The extents of a segment's bytes that have no name."""
    at, end = segment.address, segment.file_end
    for first, last in named:
        if first > at and at < end:
            yield at, min(first, end)
        at = max(at, last)
    if at < end:
        yield at, end


def _unknown(elf: Elf, start: int, end: int, measured: Collection[str]) -> Iterator[str]:
    """The problems between two symbols. Sections may begin and end there."""
    while start < end:
        section = elf.section_at(start)
        until = section.end if section else _next_section(elf, start, end)
        until = min(until, end)
        is_constant = section is not None and not (section.writable or section.executable)
        if section is None or not is_constant or section.name not in _UNNAMED:
            is_measured = section is None or section.name in measured
            yield from _not_padding(elf, section, start, until, is_measured)
        start = until


def _next_section(elf: Elf, start: int, end: int) -> int:
    return min((s.address for s in elf.sections if s.size and s.address > start), default=end)


def _not_padding(
    elf: Elf, section: Section | None, start: int, end: int, is_measured: bool
) -> Iterator[str]:
    """The problem of bytes that are too many, or have other values, for padding. ``layout``
    measures gaps between sections."""
    data = elf.read(start, end - start) or b"\1"  # bytes that the file lacks are no padding
    where = f"{section.name if section else 'a segment'} has bytes of no symbol at {start:#x}"
    alignment = max(section.alignment if section else 1, _LEAST_ALIGNMENT)
    if end - start >= alignment and not is_measured:
        hint = "functions in assembly need .type and .size"
        yield f"{where}, {end - start} of them, more than alignment takes ({hint})"
    elif not _is_padding(elf, section, data):
        yield f"{where} that are no padding: {data[:8].hex(' ')}"


def _is_padding(elf: Elf, section: Section | None, data: bytes) -> bool:
    filler = _PADDING.get(elf.machine) if section and section.executable else None
    return bool(filler.fullmatch(data)) if filler else not any(data)
