"""Relocations in Thumb code and in data: which bits the linker fills in, and with what.

Source: Arm IHI 0044, "ELF for the Arm Architecture", section 5.6; encodings: Armv8-M manual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_WORD = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class RelocationKind:
    """A relocation of four bytes. ``kept`` are the bits of the word that the linker leaves as they
    are. ``value`` decodes the others. ``is_relative``: the value is relative to the place."""

    kept: int
    value: Callable[[int], int]
    is_relative: bool = False
    half: int = 0  # 1: the value's lower 16 bits, 2: the upper ones


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _halves(word: int) -> tuple[int, int]:
    """The two halfwords of an instruction in the order of the manual."""
    return word & 0xFFFF, word >> 16


def _branch(word: int) -> int:
    one, two = _halves(word)
    sign = one >> 10 & 1
    # I1 = NOT(J1 XOR S) and I2 = NOT(J2 XOR S): encodings T1 of BL and T4 of B.
    upper = (two >> 13 & 1) ^ sign ^ 1, (two >> 11 & 1) ^ sign ^ 1
    value = sign << 24 | upper[0] << 23 | upper[1] << 22
    return _signed(value | (one & 0x3FF) << 12 | (two & 0x7FF) << 1, 25)


def _conditional(word: int) -> int:
    one, two = _halves(word)
    # Encoding T3 of B: S:J2:J1:imm6:imm11:0.
    value = (one >> 10 & 1) << 20 | (two >> 11 & 1) << 19 | (two >> 13 & 1) << 18
    return _signed(value | (one & 0x3F) << 12 | (two & 0x7FF) << 1, 21)


def _moved(word: int) -> int:
    one, two = _halves(word)
    # Encodings T3 of MOVW and T1 of MOVT: imm4:i:imm3:imm8.
    value = (one & 0xF) << 12 | (one >> 10 & 1) << 11 | (two >> 12 & 7) << 8 | two & 0xFF
    return _signed(value, 16)


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
    """The word whose halves two instructions hold."""
    return (upper & 0xFFFF) << 16 | lower & 0xFFFF


def symbol_value(kind: RelocationKind, linked: int, addend: int, place: int) -> int:
    """The value of the symbol with which a linker made ``found`` at the address ``place``."""
    return (linked - addend + (place if kind.is_relative else 0)) & _WORD
