"""C's constant tables, read from the ELF."""

from __future__ import annotations

from microgen.verifier.subject import Subject

_MAX_TEXT = 1024  # bytes of a C string


def bytes_of(subject: Subject, name: str) -> bytes | None:
    """The bytes of the only object of that name; None if there is none, or more than one."""
    objects = [s for s in subject.elf.named(name) if s.kind == "object" and s.size]
    return subject.elf.read(objects[0].address, objects[0].size) if len(objects) == 1 else None


def words(subject: Subject, name: str, count: int) -> list[int]:
    """The ``count`` words of an object of exactly that size; empty if it is not there."""
    data = bytes_of(subject, name) or b""
    width = len(data) // count if count else 0
    if width not in (4, 8) or width * count != len(data):
        return []
    return split(data, width)


def split(data: bytes, width: int) -> list[int]:
    """Little-endian words of ``width`` bytes."""
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


def text_at(subject: Subject, address: int) -> str:
    """The C string at an address; empty if there is none."""
    section = subject.elf.section_at(address)
    left = min(section.end - address, _MAX_TEXT) if section else 0
    data = subject.elf.read(address, left) or b""
    text, end, _ = data.partition(b"\0")
    return text.decode("ascii", "replace") if end else ""
