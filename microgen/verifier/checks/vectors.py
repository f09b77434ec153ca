"""Checks of the start of a core: the entry point, the vectors, the initial stack pointer, and the
bytes in flash that a boot ROM reads before it starts a program.

Sources for boot ROMs: RP2040 datasheet, 2.7.2.3; RP2350 datasheet, 5.9.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from microgen.base.formats.crc32 import crc32
from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions.architecture import Architecture
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.stack import call_graph
from microgen.verifier.subject import Finding, Subject, judged, not_applicable


def entry_point(subject: Subject) -> Finding:
    """The entry is a function symbol in executable memory; on a board it is also where the core
    starts: the reset vector on Arm, the start of flash on RISC-V.

    Reads: ELF header, symbols; vector table on Arm.
    """
    entry = subject.elf.entry
    names = [s.name for s in subject.elf.functions() if s.address == entry]
    problems = []
    if not names:
        problems.append(f"no function symbol at the entry point {entry:#x}")
    if not _is_code(subject, entry):
        problems.append(f"the entry point {entry:#x} is not in an executable section")
    if not subject.board.is_host:
        reset = architecture_of(subject.board).reset(subject.elf, subject.board)
        if entry != reset:
            problems.append(f"the entry point is {entry:#x}, but the reset vector is {reset:#x}")
    expected = "a function" if subject.board.is_host else "the reset handler, a function"
    return judged(expected, problems, f"{', '.join(names)} at {entry:#x}", address=entry)


def vector_table(subject: Subject) -> Finding:
    """Arm: the initial stack pointer is in RAM and aligned to 8; reset, the faults and all
    other vectors of the core that are not 0 have the Thumb bit and lead to the start of a
    function. RISC-V: the stack pointer is in RAM and aligned to 16, and ``mtvec`` is set, only
    to starts of functions that are aligned to 4.

    Reads: Arm: the words at the start of flash, or after RP2040's boot block; RISC-V: disassembly.
    """
    if subject.board.is_host:
        return not_applicable("the host has no vector table")
    arch = architecture_of(subject.board)
    ram = subject.board.memory(subject.board.ram)
    top = arch.stack_top(subject.elf, subject.board)
    problems = []
    # A full descending stack: the pointer may be the end of RAM, because it moves down first.
    if not ram.origin < top <= ram.origin + ram.length:
        problems.append(f"the initial stack pointer {top:#x} is outside {ram.name}")
    if top % arch.stack_alignment:
        problems.append(
            f"the initial stack pointer {top:#x} is not aligned to {arch.stack_alignment}"
        )
    handlers = arch.vectors(subject.elf, subject.board, lambda: _installed(subject))
    for name, address in handlers.items():
        problems += _vector_problems(subject, arch, name, address)
    expected = (
        f"stack pointer in {ram.name} and aligned to {arch.stack_alignment}; "
        f"{', '.join(handlers)} in code"
    )
    addresses = ", ".join(f"{name} {address:#x}" for name, address in handlers.items())
    return judged(expected, problems, f"stack pointer {top:#x}, {addresses}", stack_pointer=top)


def _installed(subject: Subject) -> set[int]:
    """The trap handlers that code sets, from the reset on."""
    graph = call_graph(subject)
    graph.depth(graph.code.reset)
    return graph.handlers()


def _vector_problems(
    subject: Subject, arch: Architecture, name: str, address: int
) -> Iterator[str]:
    problem = arch.vector_problem(address)
    if problem:
        yield f"the {name} vector {address:#x} {problem}"
    elif not _is_code(subject, address & ~1):
        yield f"the {name} vector {address:#x} is not in an executable section"
    elif inside := _inside(subject.elf, address & ~1):
        yield f"the {name} vector {address:#x} is not the start of {inside}"


def _inside(elf: Elf, address: int) -> str:
    """The function that contains the address, but does not start there; "a function" if no function
    contains it. Empty if a function starts there and no other contains it."""
    starts = [(elf.code_address(s), s) for s in elf.functions()]
    around = [s.name for start, s in starts if start < address < start + s.size]
    return around[0] if around else "" if address in dict(starts) else "a function"


def _is_code(subject: Subject, address: int) -> bool:
    section = subject.elf.section_at(address)
    return section is not None and section.executable


_SEARCHED = 4096  # RP2350 looks for a block in as many bytes from the start of flash

_BLOCK_START, _BLOCK_END = 0xFFFFDED3, 0xAB123579
_IMAGE_TYPE, _LAST = 0x42, 0xFF
_SECURE_ARM_PROGRAM = 0x1021  # for RP2350; 5.9.3.1 has the bits


def boot_block(subject: Subject) -> Finding:
    """On a board whose boot ROM wants a block: it is where the ROM looks; RP2040's has the
    CRC-32 of its bytes, RP2350's has the fields of a Secure program for Arm.

    Reads: the start of flash; ``boot`` of the board.
    """
    board, block = subject.board, subject.board.boot_block
    if block is None:
        return not_applicable("the board's boot ROM needs no block in flash")
    start = board.memory(board.flash).origin
    # Not every boot ROM searches: some read the first bytes only.
    address = start if block.is_first else _block_address(subject, start, block.nbytes)
    data = None if address is None else subject.elf.read(address, block.nbytes)
    expected, problems = _KINDS[block.kind]
    if address is None or data is None:
        return judged(expected, [f"there is none at or after {start:#x}"], "")
    actual = f"{block.nbytes} bytes at {address:#x}"
    return judged(expected, list(problems(data)), actual, address=address, nbytes=block.nbytes)


def _block_address(subject: Subject, start: int, nbytes: int) -> int | None:
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
