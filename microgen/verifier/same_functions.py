"""Compares a model's functions and constants in a foreign ELF with object files built again.

What a linker fills in is resolved by symbol. A local object or function has no name that is known
to be unique, so its address is read from the code that uses it, and its bytes are compared there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from microgen.verifier import relocations_arm
from microgen.verifier.elf import Elf, Symbol
from microgen.verifier.regenerated import ImpossibleError
from microgen.verifier.relocatable import Label, ObjectFile, Piece, Relocation
from microgen.verifier.relocations_arm import Kind

_NONE = 0  # R_ARM_NONE


@dataclass(slots=True)
class _Placed:
    """An object file whose sections' addresses in the ELF become known one by one. ``pending`` are
    (section, for whom) that are still to be compared."""

    file: ObjectFile
    program: Elf
    places: dict[int, int] = field(default_factory=dict)
    pending: list[tuple[int, str]] = field(default_factory=list)

    def put(self, section: int, address: int, user: str) -> bool:
        """Whether the section can be at that address."""
        if section not in self.places:
            self.places[section] = address
            self.pending.append((section, user))
        return self.places[section] == address


def differences(program: Elf, files: list[ObjectFile], required: set[str]) -> Iterator[str]:
    """How a model's functions and constants differ, those at fault named; nothing if all that are
    there are equal and none of ``required`` is missing.

    Raises ImpossibleError for a relocation that is not understood.
    """
    defined = {label.name for file in files for label in _defined(file)}
    for name in sorted(required):
        if name not in defined or not program.named(name):
            yield f"there is no {name}"
    for file in files:
        placed = _Placed(file, program)
        for label in _defined(file):
            yield from _named(placed, label)
        while placed.pending:
            number, user = placed.pending.pop()
            yield from _contents(placed, file.pieces[number], placed.places[number], user)


def compared(program: Elf, files: list[ObjectFile]) -> int:
    """The number of functions and objects of these files that are in the program."""
    names = {label.name for file in files for label in _defined(file)}
    return sum(bool(program.named(name)) for name in names)


def _defined(file: ObjectFile) -> Iterator[Label]:
    for label in file.labels:
        if label.is_global and label.section in file.pieces and label.size:
            yield label


def _named(placed: _Placed, label: Label) -> Iterator[str]:
    """The function or object of that name, unless the linker has dropped it."""
    found = _candidates(placed.program, label.name)
    if len(found) > 1:
        yield f"there are {len(found)} symbols {label.name}"
    if len(found) != 1:
        return
    symbol, address = found[0], placed.program.code_address(found[0])
    assert label.section is not None
    if symbol.size != label.size:
        yield f"{label.name} at {address:#x} has {symbol.size} bytes instead of {label.size}"
    elif not placed.put(label.section, address - label.value, label.name):
        yield f"{label.name} is at {address:#x}, apart from what it belongs to"


def _candidates(program: Elf, name: str) -> list[Symbol]:
    """The global symbol of a name. A linker may have made it local if it is hidden."""
    found = program.named(name)
    return [symbol for symbol in found if symbol.binding != "local"] or found


def _contents(placed: _Placed, piece: Piece, address: int, user: str) -> Iterator[str]:
    if piece.data is None:
        return
    found = placed.program.read(address, len(piece.data))
    if found is None:
        yield f"{user}: the ELF has no bytes at {address:#x}"
        return
    one, other = bytearray(found), bytearray(piece.data)
    for relocation, target in _resolved(piece, found, address, one, other):
        if not _refers(placed, relocation.label, *target, user):
            wrong = relocation.label.name or "a local object"
            yield f"{user}: what is at {address + relocation.offset:#x} does not lead to {wrong}"
    count = sum(a != b for a, b in zip(one, other, strict=True))
    if count:
        first = next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        yield f"{user} at {address:#x}: {count} bytes differ, the first at {address + first:#x}"


def _resolved(
    piece: Piece, found: bytes, address: int, one: bytearray, other: bytearray
) -> Iterator[tuple[Relocation, tuple[int, int]]]:
    """Each relocation with the symbol's value in the ELF and the addend. Clears the bits that it
    fills in, in both copies of the bytes."""
    assert piece.data is not None
    known = [(own, _kind(own, piece)) for own in piece.relocations if own.kind != _NONE]
    fields = []
    for own, kind in known:
        place = slice(own.offset, own.offset + 4)
        value, addend = (kind.value(_word(data[place])) for data in (found, piece.data))
        fields.append((own, kind, value, addend))
        for copy in (one, other):
            copy[place] = (_word(copy[place]) & kind.kept).to_bytes(4, "little")
    for own, kind, value, addend in fields:
        whole = _joined(own, addend, fields) if kind.half else value
        where = address + own.offset
        yield own, (relocations_arm.symbol_value(kind, whole, addend, where), addend)


def _kind(own: Relocation, piece: Piece) -> Kind:
    kind = relocations_arm.KINDS.get(own.kind)
    if kind is None or piece.has_addends:
        raise ImpossibleError(f"relocation {own.kind} of {piece.name} is not understood")
    return kind


def _word(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "little")


def _joined(
    relocation: Relocation, addend: int, fields: list[tuple[Relocation, Kind, int, int]]
) -> int:
    """The address whose halves instructions load. All that load halves of it must agree; if they
    do not, it is an address at which nothing is."""
    key = (relocation.label, addend)
    same = [(kind.half, value) for own, kind, value, a in fields if (own.label, a) == key]
    lower, upper = ({value for half, value in same if half == wanted} for wanted in (1, 2))
    if not (lower and upper):
        raise ImpossibleError("the compiler loads half of an address alone")
    return relocations_arm.joined(*lower, *upper) if len(lower) == len(upper) == 1 else -1


def _refers(placed: _Placed, label: Label, value: int, addend: int, user: str) -> bool:
    """Whether a symbol's value in the ELF is right."""
    if label.is_global:
        found = _candidates(placed.program, label.name)
        addresses = {found[0].address, placed.program.code_address(found[0])} if found else set()
        return len(found) == 1 and value in addresses
    if label.section is None:
        return False
    piece = placed.file.pieces[label.section]
    if piece.element and piece.data is not None:
        start = label.value + (addend if label.is_section else 0)
        end = piece.data.index(0, start) + 1 if piece.element < 0 else start + piece.element
        at = value + (addend if label.is_section else 0)
        return placed.program.read(at, end - start) == piece.data[start:end]
    value = value & ~1 if label.is_function else value
    return placed.put(label.section, value - label.value, label.name or user)
