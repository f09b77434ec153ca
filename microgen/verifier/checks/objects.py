"""Checks a planned object in memory: it is one symbol, of its size, where it was planned.

In the scope "model" it is where the linker of another firmware put it. The contents of C's constant
tables are read here, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from microgen.base.manifest import BlobRecord, ConstantRecord, PoolRecord, SharedRecord
from microgen.verifier.elf.elf import Symbol
from microgen.verifier.subject import Subject

Record = BlobRecord | ConstantRecord | PoolRecord | SharedRecord


def only(subject: Subject, record: Record) -> Symbol | None:
    """The object's symbol; None unless there is exactly one."""
    # If two symbols have one name, it is not known which of them the program uses.
    symbols = subject.elf.named(record.symbol)
    return symbols[0] if len(symbols) == 1 else None


def problems(subject: Subject, record: Record, alignment: int = 1) -> Iterator[str]:
    """Problems of its symbol, size, section, or alignment in bytes."""
    symbol = only(subject, record)
    if symbol is None:
        yield f"{len(subject.elf.named(record.symbol))} symbols are named {record.symbol}"
        return
    if symbol.kind != "object":
        yield f"{symbol.name} is of type {symbol.kind}"
    if symbol.size != record.nbytes:
        yield f"{symbol.name} has {symbol.size} bytes, planned {record.nbytes}"
    section = section_of(subject, record)
    if symbol.section != section:
        yield f"{symbol.name} is in {symbol.section or 'no section'}, not {section}"
    if symbol.address % alignment:
        yield f"{symbol.name} at {symbol.address:#x} is not aligned to {alignment}"


def section_of(subject: Subject, record: Record) -> str:
    """The section in which the object must be. In the project's firmware it is the planned section;
    in another firmware it is the section at the object's address, whatever its name is."""
    symbol = only(subject, record)
    if subject.scope == "project" or symbol is None:
        return record.section
    section = subject.elf.section_at(symbol.address)
    return section.name if section else "a section with an address"


def memory_problems(subject: Subject, record: PoolRecord, symbol: Symbol) -> Iterator[str]:
    """The problems of an arena's place. It must be in the planned memory, or, in another firmware,
    in any writable section."""
    if subject.scope == "model":
        section = subject.elf.section_at(symbol.address)
        if section is None or not section.writable:
            yield f"{symbol.name} at {symbol.address:#x} is in no writable section"
    elif not subject.board.is_host:
        memory = subject.board.memory(record.memory or subject.board.arena)
        if not memory.origin <= symbol.address <= symbol.end <= memory.origin + memory.length:
            yield f"{symbol.name} at {symbol.address:#x} is not in {memory.name}"


def is_writable(subject: Subject, symbol: Symbol) -> bool:
    """Whether the section, the segment, or the board's memory at that place is writable.

    Other linkers put code, constants and the data that start-up code copies into one segment, or
    even one section, with the flags of all of its parts. So in the scope "model" only the section
    counts, unless it is in a memory of the board that nothing writes.
    """
    memory = subject.board.memory_at(symbol.address)
    section = subject.elf.section_at(symbol.address)
    in_section = section is not None and section.writable
    if subject.scope == "model":
        return in_section and (memory is None or memory in subject.board.rams)
    segments = [s for s in subject.elf.segments if s.holds(symbol.address)]
    return (
        in_section
        or any("w" in segment.rights for segment in segments)
        or memory in subject.board.rams
    )


_MAX_TEXT = 1024  # bytes of a C string


def bytes_of(subject: Subject, name: str) -> bytes | None:
    """The bytes of the only object of that name; None if there is none, or more than one."""
    objects = [s for s in subject.elf.named(name, "object") if s.size]
    return subject.elf.read(objects[0].address, objects[0].size) if len(objects) == 1 else None


def words(subject: Subject, name: str, count: int) -> list[int]:
    """The ``count`` words of an object of exactly that size; empty if it is not there."""
    data = bytes_of(subject, name) or b""
    # Pointers have 4 bytes on boards and 8 on the host.
    width = len(data) // count if count else 0
    if width not in (4, 8) or width * count != len(data):
        return []
    return split(data, width)


def split(data: bytes, width: int) -> list[int]:
    """Little-endian words of ``width`` bytes."""
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


def text_at(subject: Subject, address: int) -> str:
    """The C string at an address; empty if there is none."""
    section = subject.elf.section_at(address)
    # A text whose end is missing must not take the whole section.
    left = min(section.end - address, _MAX_TEXT) if section else 0
    data = subject.elf.read(address, left) or b""
    text, end, _ = data.partition(b"\0")
    return text.decode("ascii", "replace") if end else ""
