"""Reads a linked section for Arm. The linker only fills in fields, and moves no bytes inside a
section.

Sources: for the bits that relocations fill in, Arm IHI 0044, "ELF for the Arm Architecture",
section 5.6; for encodings, the Armv8-M manual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from microgen.verifier.again.placement import UNKNOWN, PlacedTarget, Reading, signed
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.elf.elf import Elf
from microgen.verifier.elf.relocatable import ObjectPiece, Relocation

_WORD = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class RelocationKind:
    """A relocation of four bytes. ``kept`` are the bits of the word that the linker does not
    change. ``value`` decodes the other bits. ``is_relative``: the value is relative to the place.
    """

    kept: int
    value: Callable[[int], int]
    is_relative: bool = False
    half: int = 0  # 1: the value's lower 16 bits, 2: the upper ones


def _halves(word: int) -> tuple[int, int]:
    """The two halfwords of an instruction in the order of the manual."""
    return word & 0xFFFF, word >> 16


def _branch(word: int) -> int:
    one, two = _halves(word)
    sign = one >> 10 & 1
    # I1 = NOT(J1 XOR S) and I2 = NOT(J2 XOR S): encodings T1 of BL and T4 of B.
    upper = (two >> 13 & 1) ^ sign ^ 1, (two >> 11 & 1) ^ sign ^ 1
    value = sign << 24 | upper[0] << 23 | upper[1] << 22
    return signed(value | (one & 0x3FF) << 12 | (two & 0x7FF) << 1, 25)


def _conditional(word: int) -> int:
    one, two = _halves(word)
    # Encoding T3 of B: S:J2:J1:imm6:imm11:0.
    value = (one >> 10 & 1) << 20 | (two >> 11 & 1) << 19 | (two >> 13 & 1) << 18
    return signed(value | (one & 0x3F) << 12 | (two & 0x7FF) << 1, 21)


def _moved(word: int) -> int:
    one, two = _halves(word)
    # Encodings T3 of MOVW and T1 of MOVT: imm4:i:imm3:imm8.
    value = (one & 0xF) << 12 | (one >> 10 & 1) << 11 | (two >> 12 & 7) << 8 | two & 0xFF
    return signed(value, 16)


def _kept(one: int, two: int) -> int:
    return two << 16 | one


KINDS = {
    2: RelocationKind(0, lambda word: word),  # R_ARM_ABS32
    3: RelocationKind(0, lambda word: word, is_relative=True),  # R_ARM_REL32
    10: RelocationKind(_kept(0xF800, 0xD000), _branch, is_relative=True),  # R_ARM_THM_CALL
    30: RelocationKind(_kept(0xF800, 0xD000), _branch, is_relative=True),  # R_ARM_THM_JUMP24
    47: RelocationKind(_kept(0xFBF0, 0x8F00), _moved, half=1),  # R_ARM_THM_MOVW_ABS_NC
    48: RelocationKind(_kept(0xFBF0, 0x8F00), _moved, half=2),  # R_ARM_THM_MOVT_ABS
    51: RelocationKind(_kept(0xFBC0, 0xD000), _conditional, is_relative=True),  # R_ARM_THM_JUMP19
}


def joined(lower: int, upper: int) -> int:
    """The word that two instructions contain, a half in each."""
    return (upper & 0xFFFF) << 16 | lower & 0xFFFF


def symbol_value(kind: RelocationKind, linked: int, addend: int, place: int) -> int:
    """The value of the symbol with which a linker wrote ``linked`` at the address ``place``."""
    return (linked - addend + (place if kind.is_relative else 0)) & _WORD


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
    kind = KINDS.get(own.kind)
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
    pointer = symbol_value(kind, whole, addend, place)
    return PlacedTarget(own.label, pointer, addend, place)


def _joined(relocation: Relocation, addend: int, fields: list[_Field]) -> int:
    """The address whose halves are loaded by two instructions; UNKNOWN unless all pairs of
    instructions agree."""
    key = (relocation.label, addend)
    same = [(kind.half, value) for own, kind, value, a in fields if (own.label, a) == key]
    lower, upper = ({value for half, value in same if half == wanted} for wanted in (1, 2))
    if not (lower and upper):
        raise ImpossibleError("the compiler loads half of an address alone")
    return joined(*lower, *upper) if len(lower) == len(upper) == 1 else UNKNOWN
