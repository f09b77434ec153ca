"""A small ELF file for Arm, made without a compiler: a function, an array and their symbols."""

from __future__ import annotations

import struct

from tests.tamper.elf32 import (
    PF_R,
    PF_W,
    PF_X,
    PT_LOAD,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHT_NOBITS,
    SHT_PROGBITS,
    SHT_SYMTAB,
)

_NAMES = ("", ".text", ".bss", ".symtab", ".strtab", ".shstrtab")
_CODE = b"\x70\x47\x00\xbf" * 4  # bx lr; nop
_SHT_STRTAB = 3


def tiny() -> bytes:
    """The file: headers, code, symbols, texts, section headers."""
    texts = b"".join(name.encode() + b"\0" for name in _NAMES)
    strings = b"\0f\0array\0"
    symbols = struct.pack("<16x") + struct.pack("<IIIBBH", 1, 1, 16, 0x12, 0, 1)
    symbols += struct.pack("<IIIBBH", 3, 0x20000000, 8, 0x11, 0, 2)
    parts, at = [], 52 + 2 * 32
    for data in (_CODE, symbols, strings, texts):
        parts.append((at, len(data)))
        at += len(data)
    (code, _), (table, _), (names, _), (titles, _) = parts
    segments = (
        struct.pack("<8I", PT_LOAD, code, 0, 0, 16, 16, PF_R | PF_X, 4),
        struct.pack("<8I", PT_LOAD, code, 0x20000000, 0x20000000, 0, 8, PF_R | PF_W, 4),
    )
    offsets = [texts.index(b"\0" + name.encode() + b"\0") + 1 for name in _NAMES[1:]]
    rows = (
        (SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, code, 16, 0, 0, 4, 0),
        (SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0x20000000, code, 8, 0, 0, 4, 0),
        (SHT_SYMTAB, 0, 0, table, len(symbols), 4, 1, 4, 16),
        (_SHT_STRTAB, 0, 0, names, len(strings), 0, 0, 1, 0),
        (_SHT_STRTAB, 0, 0, titles, len(texts), 0, 0, 1, 0),
    )
    sections = [struct.pack("<10I", name, *row) for name, row in zip(offsets, rows, strict=True)]
    header = b"\x7fELF\x01\x01\x01" + bytes(9)
    header += struct.pack(
        "<HHIIIIIHHHHHH", 2, 40, 1, 1, 52, at, 0x05000200, 52, 32, 2, 40, len(_NAMES), 5
    )
    return b"".join([header, *segments, _CODE, symbols, strings, texts, bytes(40), *sections])
