"""A section of an object file as the linker has placed it, at an address of the linked program."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass

from microgen.verifier.elf.elf import Elf
from microgen.verifier.elf.relocatable import Label, ObjectPiece

UNKNOWN = -1  # the value of a symbol to which nothing can lead


@dataclass(frozen=True, slots=True)
class PlacedTarget:
    """A field that the linker filled in at the address ``place``: the ``value`` that the label has
    there, UNKNOWN if the code contradicts itself, and the relocation's addend."""

    label: Label
    value: int
    addend: int
    place: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A section of an object file in the linked program. ``differing`` are the addresses of bytes
    that differ from the object file and that the linker did not fill in. ``moves`` are pairs of
    offsets: in the object file, and in the program, whose code a linker may have made shorter
    there."""

    targets: tuple[PlacedTarget, ...]
    differing: tuple[int, ...]
    moves: tuple[tuple[int, int], ...] = ((0, 0),)

    def moved(self, offset: int) -> int:
        """The offset in the program of an offset in the object file."""
        # The second number is larger than any offset, so this finds the last pair at or before it.
        at = bisect.bisect_right(self.moves, (offset, 1 << 64)) - 1
        before, after = self.moves[at]
        return after + offset - before


def signed(value: int, bits: int) -> int:
    """The lowest ``bits`` of a value as a number in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


# Reads a section that has bytes. Raises ImpossibleError for bytes that it does not understand.
Reader = Callable[[ObjectPiece, Elf, int], Reading]
