"""Instructions that tests write into firmware, and where it calls functions."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tests.tamper.elf32 import Elf32

_JAL_RA = 1 << 7 | 0x6F


def word(number: int) -> bytes:
    return struct.pack("<I", number % 2**32)


def halves(*codes: int) -> bytes:
    return struct.pack(f"<{len(codes)}H", *codes)


def thumb_call(at: int, to: int, *, link: bool = True) -> bytes:
    """``bl`` or ``b.w``: encodings T1 of BL and T4 of B, DDI 0553 chapter C2."""
    offset = to - (at + 4)
    s = offset >> 31 & 1
    j1, j2 = (~(offset >> n ^ s) & 1 for n in (23, 22))
    low = 0xD000 if link else 0x9000
    return halves(
        0xF000 | s << 10 | offset >> 12 & 0x3FF, low | j1 << 13 | j2 << 11 | offset >> 1 & 0x7FF
    )


def riscv_call(at: int, to: int) -> bytes:
    """``jal ra``."""
    offset = to - at
    bits = (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21
    bits |= (offset >> 11 & 1) << 20 | (offset >> 12 & 0xFF) << 12
    return word(bits | _JAL_RA)


def call(elf: Elf32, at: int, function: str) -> bytes:
    """The instruction of 4 bytes that calls a function."""
    encoded = thumb_call if elf.is_arm else riscv_call
    return encoded(at, elf.symbol(function)["st_value"] & ~1)


def calls(elf: Elf32, function: str) -> list[int]:
    """Where a function calls others by instructions of 4 bytes."""
    is_call = _is_thumb_call if elf.is_arm else _is_riscv_call
    return [at for at, code in _instructions(elf, function) if len(code) == 4 and is_call(code)]


def _instructions(elf: Elf32, function: str) -> Iterator[tuple[int, bytes]]:
    symbol = elf.symbol(function)
    at = symbol["st_value"] & ~1
    end = at + symbol["st_size"]
    while at < end:
        (first,) = struct.unpack("<H", elf.get(at, 2))
        is_long = first >> 11 >= 0b11101 if elf.is_arm else first & 3 == 3
        code = elf.get(at, 4 if is_long else 2)
        yield at, code
        at += len(code)


def _is_thumb_call(code: bytes) -> bool:
    first, second = struct.unpack("<HH", code)
    return first >> 11 == 0b11110 and second & 0xD000 == 0xD000


def _is_riscv_call(code: bytes) -> bool:
    return int.from_bytes(code, "little") & 0xFFF == _JAL_RA
