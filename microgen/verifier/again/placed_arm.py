"""Reads a linked section for Arm. The linker moves no byte, and fills in fields."""

from __future__ import annotations

from microgen.verifier.again.placement import UNKNOWN, PlacedTarget, Reading
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.elf.elf import Elf
from microgen.verifier.elf.relocatable import ObjectPiece, Relocation
from microgen.verifier.instructions import relocations_arm
from microgen.verifier.instructions.relocations_arm import RelocationKind

_NONE = 0  # R_ARM_NONE
_Field = tuple[
    Relocation, RelocationKind, int, int
]  # with the values in the ELF and in the object file


def read(piece: ObjectPiece, program: Elf, address: int) -> Reading:
    """The section at an address, as ``Reader``."""
    assert piece.data is not None
    linked = program.read(address, len(piece.data))
    if linked is None:
        return Reading((), (address,))
    one, other = bytearray(linked), bytearray(piece.data)
    fields = _fields(piece, linked)
    for own, kind, _, _ in fields:
        place = slice(own.offset, own.offset + 4)
        for copy in (one, other):
            copy[place] = (_word(copy[place]) & kind.kept).to_bytes(4, "little")
    differing = [address + i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    return Reading(tuple(_target(own, fields, address) for own in fields), tuple(differing))


def _fields(piece: ObjectPiece, linked: bytes) -> list[_Field]:
    assert piece.data is not None
    fields = []
    for own in piece.relocations:
        if own.kind != _NONE:
            kind, place = _kind(own, piece), slice(own.offset, own.offset + 4)
            value, addend = (kind.value(_word(data[place])) for data in (linked, piece.data))
            fields.append((own, kind, value, addend))
    return fields


def _kind(own: Relocation, piece: ObjectPiece) -> RelocationKind:
    kind = relocations_arm.KINDS.get(own.kind)
    # Object files for Arm have addends in the section's bytes (REL).
    if kind is None or piece.has_addends:
        raise ImpossibleError(f"relocation {own.kind} of {piece.name} is not understood")
    return kind


def _word(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "little")


def _target(field: _Field, fields: list[_Field], address: int) -> PlacedTarget:
    own, kind, value, addend = field
    whole = _joined(own, addend, fields) if kind.half else value
    place = address + own.offset
    if whole == UNKNOWN:
        return PlacedTarget(own.label, UNKNOWN, addend, place)
    pointer = relocations_arm.symbol_value(kind, whole, addend, place)
    return PlacedTarget(own.label, pointer, addend, place)


def _joined(relocation: Relocation, addend: int, fields: list[_Field]) -> int:
    """The address whose halves instructions load; UNKNOWN unless all of them agree."""
    key = (relocation.label, addend)
    same = [(kind.half, value) for own, kind, value, a in fields if (own.label, a) == key]
    lower, upper = ({value for half, value in same if half == wanted} for wanted in (1, 2))
    if not (lower and upper):
        raise ImpossibleError("the compiler loads half of an address alone")
    return relocations_arm.joined(*lower, *upper) if len(lower) == len(upper) == 1 else UNKNOWN
