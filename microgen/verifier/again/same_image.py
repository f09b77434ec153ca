"""Compares two linked programs: every loaded byte, address, size and symbol."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from microgen.verifier.elf.elf import Elf, Symbol

# The fields of the ELF header about the sections, which nothing loads: (class, bytes).
# 1: 32 bits, 2: 64 bits.
_OF_SECTIONS = {1: (range(32, 36), range(46, 52)), 2: (range(40, 48), range(58, 64))}
_MAGIC = b"\x7fELF"


def differences(original: Elf, again: Elf) -> Iterator[str]:
    """The differences between a program and the program that was built again, which begin with the
    first function or object that differs; nothing if both are equal. Sizes of symbols and addresses
    come first, because bytes move with them."""
    symbols = list(_symbols(original, again))
    # Bytes move with symbols, so they are compared only if the symbols are equal.
    yield from symbols or _bytes(original, again)
    yield from _layout(original, again)
    if (original.machine, original.entry) != (again.machine, again.entry):
        yield f"entry {original.entry:#x} of {original.machine} instead of {again.entry:#x}"
    if original.flags != again.flags:
        yield f"e_flags are {original.flags:#x} instead of {again.flags:#x}"
    if dict(original.attributes) != dict(again.attributes):
        yield "the build attributes differ"


def _layout(original: Elf, again: Elf) -> Iterator[str]:
    for one, other in itertools.zip_longest(_parts(original), _parts(again), fillvalue="nothing"):
        if one != other:
            yield f"{one} instead of {other}"


def _parts(program: Elf) -> Iterator[str]:
    """The headers of each section and segment."""
    for s in program.sections:
        rights = f"{'w' * s.writable}{'x' * s.executable}" or "read only"
        place = f"{s.name} at {s.address:#x}, loaded at {s.load:#x}"
        yield f"{place}, {s.size} bytes, {s.kind}, {rights}"
    for own in program.segments:
        place = f"segment at {own.address:#x}, loaded at {own.load:#x}"
        yield f"{place}, {own.size} bytes, {own.file_size} in the file, {own.rights}"


def _symbols(original: Elf, again: Elf) -> Iterator[str]:
    # Local symbols may have equal names, addresses and sizes, so they are counted.
    has, expected = Counter(map(_linked, original.symbols)), Counter(map(_linked, again.symbols))
    extra = sorted((has - expected).elements(), key=_place)
    missing = sorted((expected - has).elements(), key=_place)
    for symbol in missing:
        # A symbol that has moved is one difference, not a missing symbol and an extra symbol.
        twin = next((other for other in extra if other.name == symbol.name), None)
        if twin is None:
            yield f"there is no {symbol}"
        else:
            extra.remove(twin)
            yield f"{_described(twin)} instead of {_described(symbol)}"
    yield from (f"{symbol} is not in what is built again" for symbol in extra)


def _linked(symbol: Symbol) -> Symbol:
    """The symbol without the name of its source, which ``strip -g`` removes."""
    return replace(symbol, file="")


def _place(symbol: Symbol) -> tuple[int, str, int]:
    return symbol.address, symbol.name, symbol.size


def _described(symbol: Symbol) -> str:
    return f"{symbol} ({symbol.binding} {symbol.kind})"


def _bytes(original: Elf, again: Elf) -> Iterator[str]:
    """The functions and objects whose bytes differ, by address."""
    places = sorted((again.code_address(s), s.size, s.name) for s in again.symbols if s.size)
    differing: dict[str, list[tuple[int, int]]] = {}
    for address in _differing_addresses(original, again):
        start, name = _owner(places, again, address)
        differing.setdefault(name, []).append((start, address))
    for name, addresses in differing.items():
        start, first = addresses[0]
        yield f"{name} at {start:#x}: {len(addresses)} bytes differ, the first at {first:#x}"


def _differing_addresses(original: Elf, again: Elf) -> Iterator[int]:
    """The addresses of bytes that differ in segments of both programs."""
    # Segments that only one program has are differences of the layout.
    expected = dict(again.image())
    for start, data in original.image():
        other = expected.get(start, b"")
        size = min(len(data), len(other))
        one, two = (np.frombuffer(_loaded(d)[:size], np.uint8) for d in (data, other))
        yield from (start + int(offset) for offset in np.flatnonzero(one != two))


def _loaded(data: bytes) -> bytes:
    """A segment's bytes. The fields about sections of an ELF header in it are set to 0."""
    if not data.startswith(_MAGIC) or len(data) < 64:
        return data
    blank = bytearray(data)
    for places in _OF_SECTIONS.get(data[4], ()):
        blank[places.start : places.stop] = bytes(len(places))
    return bytes(blank)


def _owner(places: list[tuple[int, int, str]], elf: Elf, address: int) -> tuple[int, str]:
    """The start and the name of the symbol at an address, or else of the section."""
    after = bisect.bisect_right(places, (address, 1 << 64, ""))
    # The nearest symbol may end before the address, and a symbol that begins earlier may contain
    # it.
    for start, size, name in reversed(places[max(0, after - 8) : after]):
        if start <= address < start + size:
            return start, name
    section = elf.section_at(address)
    return (section.address, section.name) if section else (address, "what no section has")
