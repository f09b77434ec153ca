"""Reads the lines of ``objdump -d``, and proves that they cover all code of an ELF.

objdump may leave a line out, print an encoding that it does not know, or print text that no
expression here matches. ``unread`` finds all of these, because it compares the instructions with
the bytes of the ELF.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from microgen.verifier.elf.elf import Elf, Section
from microgen.verifier.instructions.instruction import Instruction

# Sources: Arm IHI 0044, "Mapping symbols"; RISC-V ELF psABI, "Mapping Symbol".
_MAPPING = re.compile(r"\$([atdx])(?:\..*|rv.*)?")
_TEXT = re.compile(r"([a-z]\S*)(?:\t(.*))?")
# objdump's remarks on encodings that it does not know, or whose effect the manuals leave open. It
# prints an operand that is not allowed as an empty text. After an address it is a symbol's name.
_NOT_DEFINED = re.compile(r"(?<![0-9a-f] )<(?:und\w*|UNDEFINED|UNPREDICTABLE)>")

UNDEFINED = "undefined"


class Line(NamedTuple):
    """An instruction's address, encoding as bytes in memory's order, mnemonic and operands.
    ``mnemonic`` is ``UNDEFINED`` if objdump does not know the encoding."""

    address: int
    encoding: bytes
    mnemonic: str
    operands: str


def lines(text: str, pattern: re.Pattern[str], comment: str) -> Iterator[Line]:
    """Every line of an instruction. Data (``.word`` and so on) is left out.

    ``pattern`` matches the address, the digits of the encoding's units of 2 or 4 bytes, and the
    text after them; ``comment`` has the characters that end the operands.
    """
    for match in map(pattern.fullmatch, text.splitlines()):
        if match is not None and not match["text"].startswith("."):
            address, encoding, instruction_text = match.group("address", "encoding", "text")
            yield Line(int(address, 16), *_read(encoding, instruction_text, comment))


@functools.lru_cache(2**14)  # the same instruction is in many places
def _read(encoding: str, text: str, comment: str) -> tuple[bytes, str, str]:
    """The encoding, mnemonic and operands of a line."""
    units = encoding.split()
    # objdump prints each unit as a number, and memory is little-endian.
    data = b"".join(bytes.fromhex(unit)[::-1] for unit in units)
    words = _TEXT.fullmatch(text)
    if words is None or _NOT_DEFINED.search(text):
        return data, UNDEFINED, f"0x{''.join(units)}"
    operands = re.match(f"[^{comment}]*", words[2] or "")
    return data, words[1], operands[0] if operands else ""


def unread(elf: Elf, instructions: Mapping[int, Instruction]) -> Iterator[str]:
    """The differences between the instructions and the ELF: code that they do not cover, once for
    each gap, and encodings that are not the ELF's bytes."""
    for start, end in _code(elf):
        code = elf.read(start, end - start)
        if code is None:
            yield f"the file has no bytes of the code at {start:#x}"
            continue
        at, is_gap = start, False
        while at < end:
            instruction = instructions.get(at)
            if instruction is None:
                if not is_gap:
                    yield f"no instruction could be read at {at:#x}"
                at, is_gap = at + 1, True
                continue
            if code[at - start : instruction.next - start] != instruction.encoding:
                yield f"`{instruction}` was read at {at:#x}, where the ELF has other bytes"
            at, is_gap = instruction.next, False


def _code(elf: Elf) -> Iterator[tuple[int, int]]:
    """The ranges of code: everything in executable sections except the bytes that mapping symbols
    mark as data."""
    for section in elf.sections:
        if section.executable and section.has_bytes:
            yield from _ranges(section, _marks(elf, section))


def _marks(elf: Elf, section: Section) -> Mapping[int, set[str]]:
    """The mapping symbols of a section, by address."""
    marks: dict[int, set[str]] = {}
    for symbol in elf.symbols:
        # Sections that are not loaded have mapping symbols, too, at addresses that mean nothing.
        if symbol.section == section.name and section.holds(symbol.address):
            match = _MAPPING.fullmatch(symbol.name) if symbol.kind == "notype" else None
            if match:
                marks.setdefault(symbol.address, set()).add(match[1])
    return marks


def _ranges(section: Section, marks: Mapping[int, set[str]]) -> Iterator[tuple[int, int]]:
    places = sorted({section.address, *marks})
    for start, end in zip(places, [*places[1:], section.end], strict=True):
        # A place that is marked as both code and data must be readable as code.
        if marks.get(start) != {"d"}:
            yield start, end
