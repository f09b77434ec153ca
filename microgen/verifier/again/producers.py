"""Reads from an ELF how GCC compiled its C files: DW_AT_producer of the debug information (``-g``),
or the section that ``-frecord-gcc-switches`` makes. Both have the same text from GCC 11 on.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError
from elftools.dwarf.compileunit import CompileUnit
from elftools.elf.elffile import ELFFile

from microgen.verifier.again.regenerated import ImpossibleError

_SWITCHES = ".GCC.command.line"
_SHF_COMPRESSED = 0x800
_MOST_UNITS = 10_000  # compile units, because nobody trusts the file
_DAMAGED = (
    *(ELFError, DWARFError, ConstructError, ValueError, KeyError, AttributeError, TypeError),
    *(struct.error, OSError, AssertionError, IndexError, OverflowError, RecursionError),
)
_DEBUG_SECTIONS = (".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str")


@dataclass(frozen=True, slots=True)
class CompiledUnit:
    """A source file and the compiler's description of itself. ``source`` is empty if the files of
    the text are not known."""

    source: PurePosixPath
    producer: str


def units(path: Path) -> list[CompiledUnit]:
    """The ELF's records of its sources; empty if it has none.

    Raises ImpossibleError if the ELF cannot be read.
    """
    try:
        with path.open("rb") as stream:
            file = ELFFile(stream)
            return [*_debugged(file), *_recorded(file)]
    except _DAMAGED as error:
        raise ImpossibleError("the ELF's debug information is damaged: link again") from error


def _debugged(file: ELFFile) -> Iterator[CompiledUnit]:
    if file.get_section_by_name(".debug_info") is None:
        return
    for name in _DEBUG_SECTIONS:
        section = file.get_section_by_name(name)
        if section and section["sh_flags"] & _SHF_COMPRESSED:
            raise ImpossibleError("the ELF's debug information is compressed: link without -gz")
    for number, unit in enumerate(_no_links(file)):
        if number == _MOST_UNITS:
            raise ImpossibleError(f"the ELF has more than {_MOST_UNITS} compile units")
        values = unit.get_top_DIE().attributes
        if "DW_AT_name" in values and "DW_AT_producer" in values:
            yield CompiledUnit(
                PurePosixPath(_text(values["DW_AT_name"].value)),
                _text(values["DW_AT_producer"].value),
            )


def _no_links(file: ELFFile) -> Iterator[CompileUnit]:
    """The compile units."""
    # No other file that the ELF names is opened.
    information = file.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
    yield from information.iter_CUs()


def _recorded(file: ELFFile) -> Iterator[CompiledUnit]:
    section = file.get_section_by_name(_SWITCHES)
    if section and not section["sh_flags"] & _SHF_COMPRESSED:
        for text in sorted({*section.data().split(b"\0")} - {b""}):
            yield CompiledUnit(PurePosixPath(), _text(text))


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
