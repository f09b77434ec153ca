"""Reads object files: sections with their bytes and relocations, and symbols."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section as ElfSection

from microgen.verifier.elf import symbol_table

_SHF_ALLOC, _SHF_MERGE, _SHF_STRINGS = 2, 0x10, 0x20


@dataclass(frozen=True, slots=True)
class Label:
    """A symbol of an object file. ``section`` is the section's number, None if it is defined
    elsewhere. ``value`` is its offset there, for functions without Arm's Thumb bit."""

    name: str
    section: int | None
    value: int
    size: int
    is_function: bool
    is_section: bool
    is_global: bool


@dataclass(frozen=True, slots=True)
class Relocation:
    """A field that the linker fills in at an offset of a section. ``kind`` is the ABI's number.
    ``addend`` is 0 if the addend is in the section's bytes."""

    offset: int
    kind: int
    label: Label
    addend: int = 0


@dataclass(frozen=True, slots=True)
class ObjectPiece:
    """A section, or a function of a section that a linker may make shorter (``is_relaxed``).
    ``data`` is None if it has no bytes. ``element`` is the number of bytes of an element if the
    linker merges equal elements, -1 for strings, and 0 if the linker merges nothing."""

    name: str
    data: bytes | None
    relocations: tuple[Relocation, ...]
    has_addends: bool
    element: int
    is_relaxed: bool = False


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """An object file: its loaded sections, or functions, by number, and its symbols."""

    pieces: dict[int, ObjectPiece]
    labels: tuple[Label, ...]


def read(path: Path) -> ObjectFile:
    """Read an object file that a compiler has just made."""
    with path.open("rb") as stream:
        file = ELFFile(stream)
        labels = _labels(file)
        sections = list(enumerate(file.iter_sections()))
        # sh_info is the number of the section whose bytes these relocations change.
        fixes = {own["sh_info"]: own for _, own in sections if isinstance(own, RelocationSection)}
        pieces = {
            number: _piece(section, fixes.get(number), labels)
            for number, section in sections
            if section["sh_flags"] & _SHF_ALLOC
        }
        return ObjectFile(pieces, tuple(labels))


def _piece(
    section: ElfSection, fixes: RelocationSection | None, labels: list[Label]
) -> ObjectPiece:
    relocations = fixes.iter_relocations() if fixes else ()
    flags = section["sh_flags"]
    # Elements of strings are texts of any length; others have the size of a record.
    merged = -1 if flags & _SHF_STRINGS else int(section["sh_entsize"])
    return ObjectPiece(
        section.name,
        None if section["sh_type"] == "SHT_NOBITS" else bytes(section.data()),
        tuple(
            Relocation(
                *(own["r_offset"], own["r_info_type"], labels[own["r_info_sym"]]),
                own["r_addend"] if own.is_RELA() else 0,
            )
            for own in relocations
        ),
        bool(fixes and fixes.is_RELA()),
        merged if flags & _SHF_MERGE else 0,
    )


def _labels(file: ELFFile) -> list[Label]:
    labels = []
    for entry in symbol_table.entries(file):
        # Bit 0 of a function's value is Thumb's. RISC-V's functions have even addresses.
        is_function = entry.kind == "func"
        labels.append(
            Label(
                name=entry.name,
                section=entry.section or None,
                value=entry.value & ~1 if is_function else entry.value,
                size=entry.size,
                is_function=is_function,
                is_section=entry.kind == "section",
                is_global=entry.binding != "local",
            )
        )
    return labels
