"""A server's description of its core: architecture, registers and memories.

Sources: "Debugging with GDB", appendices "Target Descriptions" and "Memory Map Format". The texts
are XML. This module searches them for a few elements instead of parsing them, because a server is
not trusted, and a parser would follow instructions such as entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

_INCLUDE = re.compile(r"<xi:include\s[^>]*?href\s*=\s*[\"']([^\"']+)[\"']")
_ARCHITECTURE = re.compile(r"<architecture>\s*([^<\s]+)\s*</architecture>")
_FEATURE = re.compile(r"<feature\s[^>]*?name\s*=\s*[\"']([^\"']+)[\"']")
_REGISTER = re.compile(r"<reg\s([^>]*)>")
_ATTRIBUTE = re.compile(r"([\w.-]+)\s*=\s*[\"']([^\"']*)[\"']")
_MEMORY = re.compile(r"<memory\s([^>]*?)(?:/>|>(.*?)</memory>)", re.S)
_BLOCK = re.compile(r"<property\s+name\s*=\s*[\"']blocksize[\"']\s*>\s*(\w+)\s*</property>")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_FILES = 32  # more includes than any server has
_WIDEST = 1024  # bits of a register


@dataclass(frozen=True, slots=True)
class DebugRegister:
    """A register's number in the protocol, and its size in bytes."""

    number: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Description:
    """A core as its server describes it. ``architecture`` is gdb's name ("arm", "riscv:rv32"),
    empty if the server does not state it. ``features`` are the names of the core's groups of
    registers. ``registers`` are keyed by their names in lower case."""

    architecture: str = ""
    features: tuple[str, ...] = ()
    registers: Mapping[str, DebugRegister] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryRegion:
    """A memory from ``start`` up to, not including, ``end``. ``kind`` is ram, rom or flash; flash
    is erased in blocks of ``block`` bytes."""

    kind: str
    start: int
    end: int
    block: int


def read(document: Callable[[str], str]) -> Description:
    """The core's description. ``document`` returns a file of it, empty if there is none."""
    text = "\n".join(_COMMENT.sub("", part) for part in _documents(document))
    architecture = _ARCHITECTURE.search(text)
    return Description(
        architecture[1] if architecture else "",
        tuple(_FEATURE.findall(text)),
        dict(_registers(text)),
    )


def regions(text: str) -> tuple[MemoryRegion, ...]:
    """The memories of a memory map. Memories with invalid numbers are left out."""
    return tuple(_regions(_COMMENT.sub("", text)))


def _documents(document: Callable[[str], str]) -> Iterator[str]:
    """All files of the description. An included file is inserted where it is included, because a
    register's default number depends on its predecessor."""
    waiting, seen = ["target.xml"], 0
    while waiting and seen < _FILES:
        text = _COMMENT.sub("", document(waiting.pop(0)))
        seen += 1
        yield text
        # Before the files that wait, because registers without numbers are counted in the order of
        # the text.
        waiting = [*_INCLUDE.findall(text), *waiting]


def _registers(text: str) -> Iterator[tuple[str, DebugRegister]]:
    """A register without a number has the number after its predecessor's number."""
    following = 0
    for match in _REGISTER.finditer(text):
        values = dict(_ATTRIBUTE.findall(match[1]))
        number = _number(values.get("regnum", ""))
        bits = _number(values.get("bitsize", "")) or 0
        number = following if number is None else number
        following = number + 1
        # 4 bytes, the usual size, for a size that makes no sense.
        size = -(-bits // 8) if 0 < bits <= _WIDEST else 4
        yield values.get("name", "").lower(), DebugRegister(number, size)


def _regions(text: str) -> Iterator[MemoryRegion]:
    for match in _MEMORY.finditer(text):
        values = dict(_ATTRIBUTE.findall(match[1]))
        start, length = (_number(values.get(key, "")) for key in ("start", "length"))
        block = _BLOCK.search(match[2] or "")
        size = _number(block[1]) if block else 1
        if start is not None and length and length > 0 and size and size > 0:
            yield MemoryRegion(values.get("type", ""), start, start + length, size)


def _number(text: str) -> int | None:
    try:
        return int(text, 0) if len(text) < 20 else None
    except ValueError:
        return None
