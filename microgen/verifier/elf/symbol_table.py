"""Reads the symbols of an ELF file, which pyelftools does a hundred times more slowly."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_ST_INFO_BIND, ENUM_ST_INFO_TYPE
from elftools.elf.sections import SymbolTableSection

UNDEFINED = 0  # the number of the section of a symbol that another file defines
_NO_SECTIONS = {0xFFF1, 0xFFF2}  # absolute and common symbols


class SymbolEntry(NamedTuple):
    """A row of the table. ``kind`` and ``binding`` are ELF's names in lower case ("object",
    "func"; "local"), ``section`` is its section's number, None for absolute and common symbols."""

    name: str
    value: int
    size: int
    kind: str
    binding: str
    section: int | None


def _names(constants: Mapping[str, object]) -> list[str]:
    """The constants' names by number, of four bits. A number without a name is its own name."""
    known = {number: name.split("_", 1)[-1].lower() for name, number in constants.items()}
    return [known.get(number, str(number)) for number in range(16)]


_KINDS = _names(ENUM_ST_INFO_TYPE)
_BINDINGS = _names(ENUM_ST_INFO_BIND)


def entries(file: ELFFile) -> Iterator[SymbolEntry]:
    """Every row of ``.symtab``, or nothing without it. Raises ELFError or struct.error if the file
    lacks a part of it."""
    table = file.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return
    file.stream.seek(0)
    data: bytes = file.stream.read()
    rows = data[table["sh_offset"] :][: table["sh_size"]]
    if len(rows) < table["sh_size"]:
        raise ELFError("the symbol table ends outside the file")
    start = table.stringtable["sh_offset"]
    texts = data[start : start + table.stringtable["sh_size"]]
    for name, value, size, info, index in _fields(file, rows, table["sh_entsize"]):
        # The lower half of st_info is the type, the upper half is the binding.
        kind, binding = _KINDS[info & 15], _BINDINGS[info >> 4]
        section = None if index in _NO_SECTIONS else index
        yield SymbolEntry(_text(texts, name), value, size, kind, binding, section)


def _fields(file: ELFFile, rows: bytes, row_bytes: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Name, value, size, info and section of each row. Source: System V ABI, "Symbol Table"."""
    order = "<" if file.little_endian else ">"
    layout = f"{order}{'IIIBBH' if file.elfclass == 32 else 'IBBHQQ'}"
    for row in struct.iter_unpack(f"{layout}{row_bytes - struct.calcsize(layout)}x", rows):
        if file.elfclass == 32:
            name, value, size, info, _, index = row
        else:
            name, info, _, index, value, size = row
        yield name, value, size, info, index


def _text(texts: bytes, start: int) -> str:
    """The text up to the next zero."""
    end = texts.find(b"\0", start)
    if end < 0:
        raise ELFError("a symbol's name is outside of the table of names")
    return texts[start:end].decode("utf-8", errors="replace")
