"""Compares a model's functions and constants in a foreign ELF with object files built again.

Fields that a linker fills in are resolved by symbol. The name of a local object or function may not
be unique, so its address is read from the code that uses it, and its bytes are compared there.

Code for RISC-V, which a linker may make shorter, is divided into functions. The distances between
them are known only in the linked program, so each reference to another function of the same section
has a relocation, and each function can be compared by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from microgen.verifier.again import placed_arm, placed_riscv
from microgen.verifier.again.placed_riscv import ALIGN, RELAX
from microgen.verifier.again.placement import UNKNOWN, PlacedTarget, Reader, Reading
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.elf import relocatable
from microgen.verifier.elf.elf import Elf, Symbol
from microgen.verifier.elf.relocatable import Label, ObjectFile, ObjectPiece

READERS: Mapping[str, Reader] = {"EM_ARM": placed_arm.read, "EM_RISCV": placed_riscv.read}


@dataclass(slots=True)
class _Placed:
    """An object file whose pieces' addresses in the ELF become known one by one. ``pending`` has
    the pieces that are not compared yet, each with the symbol that refers to it. ``readings`` has
    the compared pieces. ``late`` are targets inside functions, each with the symbol that refers to
    it, which are compared last."""

    file: ObjectFile
    program: Elf
    places: dict[int, int] = field(default_factory=dict)
    pending: list[tuple[int, str]] = field(default_factory=list)
    readings: dict[int, Reading] = field(default_factory=dict)
    late: list[tuple[PlacedTarget, str]] = field(default_factory=list)

    def put(self, section: int, address: int, user: str) -> bool:
        """Whether the section can be at that address."""
        if section not in self.places:
            self.places[section] = address
            self.pending.append((section, user))
        return self.places[section] == address

    def moved(self, label: Label) -> int:
        """The address of a label of a piece that has a place."""
        assert label.section is not None
        reading = self.readings.get(label.section)
        offset = reading.moved(label.value) if reading else label.value
        return self.places[label.section] + offset


def read(path: Path, machine: str) -> ObjectFile:
    """Read an object file, as it can be compared with a program for this machine."""
    file = relocatable.read(path)
    return by_function(file) if machine == "EM_RISCV" else file


def differences(program: Elf, files: list[ObjectFile], required: set[str]) -> Iterator[str]:
    """The differences of a model's functions and constants, with their names. Empty if all of them
    in the ELF are equal and no function of ``required`` is missing.

    Raises ImpossibleError for a relocation that is not understood.
    """
    defined = {label.name for file in files for label in _defined(file)}
    for name in sorted(required):
        if name not in defined or not program.named(name):
            yield f"there is no {name}"
    for file in files:
        yield from _file(_Placed(file, program))


def _file(placed: _Placed) -> Iterator[str]:
    for label in _defined(placed.file):
        yield from _named(placed, label)
    # A piece that is compared tells the places of the pieces that it uses.
    while placed.pending:
        number, user = placed.pending.pop()
        yield from _contents(placed, number, user)
    for target, user in placed.late:
        if not _is_inside(placed, target):
            yield _wrong(target, user)
    for label in _defined(placed.file):
        yield from _size(placed, label)


def compared(program: Elf, files: list[ObjectFile]) -> int:
    """The number of functions and objects of these files that are in the program."""
    names = {label.name for file in files for label in _defined(file)}
    return sum(bool(program.named(name)) for name in names)


def _defined(file: ObjectFile) -> Iterator[Label]:
    for label in file.labels:
        if label.is_global and label.section in file.pieces and label.size:
            yield label


def _named(placed: _Placed, label: Label) -> Iterator[str]:
    """The function or object called ``name``, unless the linker has dropped it."""
    candidates = _candidates(placed.program, label.name)
    if len(candidates) > 1:
        yield f"there are {len(candidates)} symbols {label.name}"
    if len(candidates) != 1:
        return
    program, symbol = placed.program, candidates[0]
    address = program.code_address(symbol) if label.is_function else symbol.address
    assert label.section is not None
    if not placed.put(label.section, address - label.value, label.name):
        yield f"{label.name} is at {address:#x}, apart from what it belongs to"


def _size(placed: _Placed, label: Label) -> Iterator[str]:
    """The size of the function or object of that name, if there is one."""
    candidates = _candidates(placed.program, label.name)
    if len(candidates) != 1 or label.section not in placed.places:
        return
    end = replace(label, value=label.value + label.size)
    size, symbol = placed.moved(end) - placed.moved(label), candidates[0]
    if symbol.size != size:
        yield f"{symbol.name} at {symbol.address:#x} has {symbol.size} bytes instead of {size}"


def _candidates(program: Elf, name: str) -> list[Symbol]:
    """The global symbol of a name."""
    symbols = program.named(name)
    # A linker may have made a hidden symbol local.
    return [symbol for symbol in symbols if symbol.binding != "local"] or symbols


def _contents(placed: _Placed, number: int, user: str) -> Iterator[str]:
    piece, address = placed.file.pieces[number], placed.places[number]
    if piece.data is None:
        return
    if placed.program.read(address, 1) is None:
        yield f"{user}: the ELF has no bytes at {address:#x}"
        return
    reading = READERS[placed.program.machine](piece, placed.program, address)
    placed.readings[number] = reading
    for target in reading.targets:
        if not _refers(placed, target, user):
            yield _wrong(target, user)
    if not _is_in_section(placed.program, address, address + reading.moved(len(piece.data))):
        yield f"{user} at {address:#x} is in no section with bytes, and objcopy leaves it out"
    count = len(reading.differing)
    if count:
        first = min(reading.differing)
        yield f"{user} at {address:#x}: {count} bytes differ, the first at {first:#x}"


def _is_in_section(program: Elf, start: int, end: int) -> bool:
    section = program.section_at(start)
    return start == end or (section is not None and section.has_bytes and end <= section.end)


def _wrong(target: PlacedTarget, user: str) -> str:
    wrong = target.label.name or "a local object"
    return f"{user}: what is at {target.place:#x} does not lead to {wrong}"


def _refers(placed: _Placed, target: PlacedTarget, user: str) -> bool:
    """Whether a symbol's value in the ELF is right. A value that is not known yet is compared
    later."""
    label = target.label
    if target.value == UNKNOWN:
        return False
    if label.is_global:
        candidates = _candidates(placed.program, label.name)
        return len(candidates) == 1 and target.value in _addresses(placed.program, candidates[0])
    if label.section is None:
        raise ImpossibleError(f"what {label.name or 'a label'} is for {user} is not understood")
    piece = placed.file.pieces[label.section]
    if piece.element and piece.data is not None:
        return _is_same_element(placed.program, piece, target)
    if piece.is_relaxed and label.value:
        placed.late.append((target, user))
        return True
    value = target.value & ~1 if label.is_function else target.value
    return placed.put(label.section, value - label.value, label.name or user)


def _addresses(program: Elf, symbol: Symbol) -> set[int]:
    """The addresses that lead to a symbol."""
    is_data = symbol.kind == "object"
    # Arm calls code with a bit in the address, so there are two.
    return {symbol.address} if is_data else {symbol.address, program.code_address(symbol)}


def _is_same_element(program: Elf, piece: ObjectPiece, target: PlacedTarget) -> bool:
    """Whether a target has equal bytes at the place that the linker has chosen for them."""
    assert piece.data is not None
    more = target.addend if target.label.is_section else 0
    start = target.label.value + more
    end = piece.data.index(0, start) + 1 if piece.element < 0 else start + piece.element
    return program.read(target.value + more, end - start) == piece.data[start:end]


def _is_inside(placed: _Placed, target: PlacedTarget) -> bool:
    """Whether a target is at the right place inside a function.

    Raises ImpossibleError if nothing says where the function is.
    """
    section = target.label.section
    if section not in placed.places:
        raise ImpossibleError(f"where the function of {target.label.name} is cannot be known")
    return placed.moved(target.label) == target.value


@dataclass(frozen=True, slots=True)
class _Part:
    """The extent of a function in its section, and the number of the piece that is made from it."""

    section: int
    start: int
    end: int
    number: int

    def moved(self, label: Label) -> Label:
        """The label, which is inside the function, in its piece."""
        return replace(label, section=self.number, value=label.value - self.start)


def by_function(file: ObjectFile) -> ObjectFile:
    """The file with a piece for each function of the sections that a linker may make shorter.
    Labels outside of functions in these sections lose their place."""
    relaxed = {number for number, piece in file.pieces.items() if _is_relaxed(piece)}
    parts = tuple(_parts(file, relaxed))
    labels = {own: _moved(own, relaxed, parts) for own in file.labels}
    kept = {number: piece for number, piece in file.pieces.items() if number not in relaxed}
    pieces = {number: _cut(piece, labels, None) for number, piece in kept.items()}
    for part in parts:
        pieces[part.number] = _cut(file.pieces[part.section], labels, part)
    return ObjectFile(pieces, tuple(labels[own] for own in file.labels))


def _is_relaxed(piece: ObjectPiece) -> bool:
    return any(own.kind in (ALIGN, RELAX) for own in piece.relocations)


def _parts(file: ObjectFile, relaxed: set[int]) -> Iterator[_Part]:
    places = {
        (own.section, own.value, own.value + own.size)
        for own in file.labels
        if own.section in relaxed and own.is_function and own.size
    }
    first = max(file.pieces, default=0) + 1
    for number, (section, start, end) in enumerate(sorted(places), first):
        yield _Part(section, start, end, number)


def _moved(label: Label, relaxed: set[int], parts: tuple[_Part, ...]) -> Label:
    if label.section not in relaxed:
        return label
    if not label.is_section:
        for part in parts:
            if part.section == label.section and part.start <= label.value < part.end:
                return part.moved(label)
    return replace(label, section=None)


def _cut(piece: ObjectPiece, labels: Mapping[Label, Label], part: _Part | None) -> ObjectPiece:
    """A piece with the new labels; if ``part`` is given, only this part of the piece."""
    start, end = (part.start, part.end) if part else (0, len(piece.data or b""))
    relocations = tuple(
        replace(own, offset=own.offset - start, label=labels[own.label])
        for own in piece.relocations
        if start <= own.offset < end
    )
    data = piece.data and piece.data[start:end]
    return replace(piece, data=data, relocations=relocations, is_relaxed=part is not None)
