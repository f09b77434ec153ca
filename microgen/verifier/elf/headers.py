"""Reads the headers of an ELF file literally, without following any of the format's extensions.

``header_rules`` decides whether they are accepted. A number that is too large, or an offset outside
of the file, gives fewer records here, and a rule reports it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MAGIC = b"\x7fELF"
IDENT = 16  # the number of bytes that identify the file
LEAST = 52  # the size of the smallest file
SHT_NULL, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_NOTE, SHT_NOBITS = 0, 1, 2, 3, 7, 8
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400
PT_LOAD = 1


class FileHeader(NamedTuple):
    """The ELF header's fields after the identification, in their order."""

    kind: int
    machine: int
    version: int
    entry: int
    segments_at: int
    sections_at: int
    flags: int
    nbytes: int
    segment_nbytes: int
    segment_count: int
    section_nbytes: int
    section_count: int
    names_section: int


class ProgramHeader(NamedTuple):
    """A program header, of a segment: addresses where it runs and is loaded (p_paddr), sizes in
    memory and in the file, and the place of its bytes in the file."""

    kind: int
    flags: int
    offset: int
    address: int
    load: int
    file_size: int
    size: int
    alignment: int

    @property
    def rights(self) -> str:
        """A subset of "rwx", by p_flags."""
        return "".join(right for right, bit in (("r", 4), ("w", 2), ("x", 1)) if self.flags & bit)

    @property
    def end(self) -> int:
        """The first address after the segment."""
        return self.address + self.size

    @property
    def file_end(self) -> int:
        """The first address of the segment that has no byte in the file."""
        return self.address + self.file_size

    def holds(self, address: int) -> bool:
        """Whether the address lies in the segment."""
        return self.address <= address < self.end

    def bytes_in(self, file: bytes) -> bytes:
        """The segment's bytes in the file."""
        return file[self.offset : self.offset + self.file_size]

    def __str__(self) -> str:
        return f"the segment at {self.address:#x}"


class SectionHeader(NamedTuple):
    """A section header. ``name`` is the offset of its name."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    record_nbytes: int

    @property
    def is_loaded(self) -> bool:
        """Whether the section takes memory."""
        return bool(self.flags & SHF_ALLOC)

    @property
    def has_bytes(self) -> bool:
        """Whether the section has bytes in the file."""
        return self.kind != SHT_NOBITS


class HeaderForm(NamedTuple):
    """How a class of files stores its records: formats of ``struct``, sizes in bytes, and the order
    of the fields of a program header."""

    header: str
    segment: str
    section: str
    header_nbytes: int
    segment_nbytes: int
    section_nbytes: int
    symbol_nbytes: int
    segment_order: tuple[int, ...]
    limit: int


# Source: System V ABI, "Object Files", for 32 and 64 bits, little-endian.
FORMS = {
    # p_flags is the seventh field of program headers with 32 bits, and the second with 64.
    1: HeaderForm(
        "<HHIIIIIHHHHHH", "<8I", "<10I", 52, 32, 40, 16, (0, 6, 1, 2, 3, 4, 5, 7), 1 << 32
    ),
    2: HeaderForm(
        "<HHIQQQIHHHHHH", "<IIQQQQQQ", "<IIQQQQIIQQ", 64, 56, 64, 24, tuple(range(8)), 1 << 64
    ),
}
_NOTHING = FileHeader(*[0] * 13)
_UNKNOWN = FORMS[1]


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of a file. ``ident`` are its first bytes, ``names`` the sections' names in their
    order; None where there is none. Without a known class there are no records."""

    data: bytes
    ident: bytes
    form: HeaderForm
    file: FileHeader
    segments: tuple[ProgramHeader, ...]
    sections: tuple[SectionHeader, ...]
    names: tuple[str | None, ...]

    @property
    def loaded(self) -> list[ProgramHeader]:
        """The loaded segments, which take memory or have bytes."""
        return [s for s in self.segments if s.kind == PT_LOAD and (s.size or s.file_size)]

    def named(self) -> list[tuple[str, SectionHeader]]:
        """The sections with their names."""
        titles = (name or f"section {i}" for i, name in enumerate(self.names))
        return list(zip(titles, self.sections, strict=True))


def read(data: bytes) -> Headers:
    """The headers of a file's bytes, which begin with ``MAGIC``."""
    ident = data[:IDENT].ljust(IDENT, b"\0")
    # EI_CLASS is the fifth byte of the file.
    form = FORMS.get(data[4]) if len(data) > 4 else None
    if form is None or len(data) < form.header_nbytes:
        return Headers(data, ident, _UNKNOWN, _NOTHING, (), (), ())
    file = FileHeader(*struct.unpack_from(form.header, data, IDENT))
    records = _records(data, form.segment, file.segments_at, file.segment_count)
    segments = tuple(ProgramHeader(*(row[i] for i in form.segment_order)) for row in records)
    rows = _records(data, form.section, file.sections_at, file.section_count)
    sections = tuple(SectionHeader(*row) for row in rows)
    return Headers(data, ident, form, file, segments, sections, _names(data, file, sections))


def _records(data: bytes, form: str, start: int, count: int) -> Iterator[tuple[int, ...]]:
    size = struct.calcsize(form)
    for at in range(start, min(start + count * size, len(data) - size + 1), size):
        yield struct.unpack_from(form, data, at)


def _names(
    data: bytes, file: FileHeader, sections: tuple[SectionHeader, ...]
) -> tuple[str | None, ...]:
    if file.names_section >= len(sections):
        return (None,) * len(sections)
    table = sections[file.names_section]
    texts = data[table.offset : table.offset + table.size]
    return tuple(text(texts, section.name) for section in sections)


def text(texts: bytes, start: int) -> str | None:
    """The text up to the next zero; None if it has no end in ``texts``."""
    end = texts.find(b"\0", start) if start < len(texts) else -1
    return None if end < 0 else texts[start:end].decode("utf-8", errors="replace")
