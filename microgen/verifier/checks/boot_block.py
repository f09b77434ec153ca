"""Checks the bytes in flash that a boot ROM reads before it starts a program.

Sources: RP2040 datasheet, 2.7.2.3; RP2350 datasheet, 5.9.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from microgen.base.formats.crc32 import crc32
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_SEARCHED = 4096  # RP2350 looks for a block in as many bytes from the start of flash

_BLOCK_START, _BLOCK_END = 0xFFFFDED3, 0xAB123579
_IMAGE_TYPE, _LAST = 0x42, 0xFF
_SECURE_ARM_PROGRAM = 0x1021  # for RP2350; 5.9.3.1 has the bits


def boot_block(subject: Subject) -> Finding:
    """On a board whose boot ROM wants a block: it is where the ROM looks; RP2040's has the
    CRC-32 of its bytes, RP2350's has the fields of a Secure program for Arm."""
    board, block = subject.board, subject.board.boot_block
    if block is None:
        return not_applicable("the board's boot ROM needs no block in flash")
    start = board.memory(board.flash).origin
    address = start if block.is_first else _found(subject, start, block.nbytes)
    data = None if address is None else subject.elf.read(address, block.nbytes)
    expected, problems = _KINDS[block.kind]
    if address is None or data is None:
        return judged(expected, [f"there is none at or after {start:#x}"], "")
    found = f"{block.nbytes} bytes at {address:#x}"
    return judged(expected, list(problems(data)), found, address=address, nbytes=block.nbytes)


def _found(subject: Subject, start: int, nbytes: int) -> int | None:
    """The address of the first word that begins a block of RP2350; None if there is none."""
    places = range(start, start + _SEARCHED - nbytes + 1, 4)
    return next((at for at in places if subject.elf.word(at) == _BLOCK_START), None)


def _second_stage(data: bytes) -> Iterator[str]:
    (stored,), computed = struct.unpack("<I", data[-4:]), crc32(data[:-4])
    if stored != computed:
        yield f"its checksum is {stored:#010x}, its bytes have {computed:#010x}"


def _image_definition(data: bytes) -> Iterator[str]:
    """Problems of the least block of RP2350: one item, its end, and a loop of one block."""
    _, item, last, link, end = struct.unpack("<5I", data)
    kind, words, flags = item & 0xFF, item >> 8 & 0xFF, item >> 16
    if (kind, words) != (_IMAGE_TYPE, 1):
        yield f"its item is {kind:#x} of {words} words, expected {_IMAGE_TYPE:#x} of 1"
    if flags != _SECURE_ARM_PROGRAM:
        yield (
            f"its image type is {flags:#06x}, expected {_SECURE_ARM_PROGRAM:#06x}, a Secure "
            "program for Arm and RP2350"
        )
    if last != _LAST | words << 8:
        yield f"its last item is {last:#010x}, expected {_LAST | words << 8:#010x}"
    if link:
        yield f"its next block is at {link:#x} from it, expected itself"
    if end != _BLOCK_END:
        yield f"it ends with {end:#010x}, expected {_BLOCK_END:#010x}"


_KINDS: dict[str, tuple[str, Callable[[bytes], Iterator[str]]]] = {
    "second stage": (
        "a second stage in the first 256 bytes of flash, with the checksum of its bytes",
        _second_stage,
    ),
    "image definition": (
        "a block in the first 4096 bytes of flash that defines a Secure program for Arm",
        _image_definition,
    ),
}
