"""Divides code for RISC-V, which a linker may make shorter, into functions.

The distances between such functions are known only in the linked program. So each reference to
another function of the same section has a relocation, and each function can be compared by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from microgen.verifier.again.placed_riscv import ALIGN, RELAX
from microgen.verifier.elf.relocatable import Label, ObjectFile, ObjectPiece


@dataclass(frozen=True, slots=True)
class _Part:
    """A function's bytes in a section, and the number of its own piece."""

    section: int
    start: int
    end: int
    number: int

    def moved(self, label: Label) -> Label:
        """The label, which is inside the function, in its piece."""
        return replace(label, section=self.number, value=label.value - self.start)


def by_function(file: ObjectFile) -> ObjectFile:
    """The file with a piece for each function of the sections that a linker may make shorter. Other
    labels of these sections lose their place."""
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
    """A piece with the new labels; only a part of it, if one is given."""
    start, end = (part.start, part.end) if part else (0, len(piece.data or b""))
    relocations = tuple(
        replace(own, offset=own.offset - start, label=labels[own.label])
        for own in piece.relocations
        if start <= own.offset < end
    )
    data = piece.data and piece.data[start:end]
    return replace(piece, data=data, relocations=relocations, is_relaxed=part is not None)
