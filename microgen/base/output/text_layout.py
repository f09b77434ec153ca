"""Text laid out in a number of columns: no line is broken inside a word.

A width of None means no limit: nothing is wrapped. Every line of the result is printable, even if
its text is from an untrusted file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rich.cells import cell_len, set_cell_size

from microgen.base.errors import cut
from microgen.base.printable import printable

GAP = 2
_SHORTEST = 16  # a name cut to so many columns is still recognisable
_TALLEST = 6  # lines of a cell; longer ones are easier to read as a block
_INDENT = 4  # of continuation lines


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of code or of a program's output, one per line of ``text``. Words that are wider than
    the terminal are shortened in the middle."""

    text: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. ``right``: its cells are numbers. ``shorten``: its cells are names, cut
    in the middle if there is little room. ``optional``: left out if there is no room for it."""

    heading: str
    right: bool = False
    shorten: bool = False
    optional: bool = False


@dataclass(slots=True)
class Table:
    """Rows of cells below headings, each column as wide as its widest cell.

    If that is wider than the terminal, optional columns are left out, then cells are wrapped
    and names shortened. If even that does not fit, each row becomes a block of lines.
    """

    columns: Sequence[Column]
    title: str = ""
    rows: list[tuple[str, ...]] = field(default_factory=list, init=False)

    def add(self, *cells: str) -> None:
        """Add a row with a cell for each column. Text that is too long to be read is cut."""
        # Cells contain names from models and ELF files, which may have any length and any
        # character.
        self.rows.append(tuple(printable(cut(cell)) for cell in cells))

    def lines(self, width: int | None) -> Iterator[str]:
        """The title, the headings and the rows."""
        if self.title:
            yield from wrapped(self.title, width)
        kept = self._kept(width)
        widths = self._fitted(kept, width)
        # Not even the shortest words fit next to each other.
        if widths is None:
            yield from self._blocks(kept, width)
            return
        headings = tuple(column.heading for column in self.columns)
        for row in (headings, *self.rows):
            yield from self._row([row[k] for k in kept], [self.columns[k] for k in kept], widths)

    def _kept(self, width: int | None) -> list[int]:
        """The columns for which there is room. The last optional column is left out first."""
        kept = list(range(len(self.columns)))
        for k in reversed(range(len(self.columns))):
            if self._fitted(kept, width) is not None:
                break
            if self.columns[k].optional:
                kept.remove(k)
        return kept

    def _fitted(self, kept: Sequence[int], width: int | None) -> list[int] | None:
        """The columns' widths; None if words would have to be cut, or if cells become too tall."""
        # ``cell_len``, because some characters take two columns, others none.
        natural = [max(cell_len(cell) for cell in self._cells(k)) for k in kept]
        if width is None:
            return natural
        least = [self._least(k) for k in kept]
        room = width - GAP * (len(kept) - 1)
        if sum(least) > room:
            return None
        # The column with most room to give loses half of it at a time, so wide columns shrink
        # together.
        while (excess := sum(natural) - room) > 0:
            widest = max(range(len(kept)), key=lambda k: (natural[k] - least[k], natural[k]))
            natural[widest] -= min(excess, max(1, (natural[widest] - least[widest]) // 2))
        tallest = max(self._tallest(k, w) for k, w in zip(kept, natural, strict=True))
        return natural if tallest <= _TALLEST else None

    def _tallest(self, k: int, width: int) -> int:
        """About the number of lines of a column's longest cell; 1 for names, which are cut."""
        longest = max(cell_len(cell) for cell in self._cells(k))
        return 1 if self.columns[k].shorten else -(-longest // max(1, width))

    def _cells(self, k: int) -> list[str]:
        return [self.columns[k].heading, *(row[k] for row in self.rows)]

    def _least(self, k: int) -> int:
        longest = max(cell_len(word) for cell in self._cells(k) for word in (cell.split() or [""]))
        heading = max(cell_len(word) for word in self.columns[k].heading.split() or [""])
        return min(longest, max(_SHORTEST, heading)) if self.columns[k].shorten else longest

    def _row(
        self, cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]
    ) -> Iterator[str]:
        broken = [
            list(pieces(cell, width, width, shorten=column.shorten))
            for cell, column, width in zip(cells, columns, widths, strict=True)
        ]
        for k in range(max(map(len, broken))):
            texts = [lines[k] if k < len(lines) else "" for lines in broken]
            yield _joined(texts, columns, widths)

    def _blocks(self, kept: Sequence[int], width: int | None) -> Iterator[str]:
        """Each row as lines: each cell after its heading."""
        for row in self.rows:
            first, *rest = [(self.columns[k].heading, row[k]) for k in kept if row[k]]
            yield from wrapped(f"{first[0]} {first[1]}", width)
            for heading, cell in rest:
                yield from wrapped(f"  {heading}: {cell}", width, shorten=True)


Part: TypeAlias = "str | Listing | Table"


def lines(parts: Iterable[Part], width: int | None) -> Iterator[str]:
    """Every line of the parts. A text is one line, which is wrapped between words, and cut if it
    is too long to be read."""
    for part in parts:
        if isinstance(part, Table):
            yield from part.lines(width)
        elif isinstance(part, Listing):
            for line in part.text.split("\n"):
                yield from wrapped(line.expandtabs(), width, shorten=True)
        else:
            yield from wrapped(cut(part), width)


def wrapped(line: str, width: int | None, *, shorten: bool = False) -> Iterator[str]:
    """The line broken between words, with continuation lines indented further. A word that is wider
    than the terminal gets a line of its own, for the terminal to break, unless it may be shortened.
    """
    line = printable(line).rstrip()
    if width is None or cell_len(line) <= width:
        yield line
        return
    # At most half of the width, so that deeply indented lines have room for words.
    lead = line[: min(len(line) - len(line.lstrip()), width // 2)]
    further = f"{lead}{' ' * _INDENT}"
    rooms = (width - len(lead), width - len(further))
    for number, piece in enumerate(pieces(line.lstrip(), *rooms, shorten=shorten)):
        yield f"{further if number else lead}{piece}"


def pieces(text: str, first: int, later: int, *, shorten: bool = False) -> Iterator[str]:
    """The text broken at spaces: a piece of at most ``first`` columns, then some of ``later``.
    Spaces inside a piece are kept."""
    words, used, room = list[str](), 0, first
    for spaced in re.findall(r"\s*\S+", text):
        if words and used + cell_len(spaced) > room:
            yield "".join(words)
            words, used, room = [], 0, later
        word = spaced if words else spaced.lstrip()
        words.append(shortened(word, room) if shorten else word)
        used += cell_len(words[-1])
    yield "".join(words)


def shortened(word: str, width: int) -> str:
    """The word, cut in the middle if it is wider than ``width``."""
    if cell_len(word) <= width:
        return word
    half = max(1, (width - 3) // 2)
    # Columns are not characters (East Asian ones take two). rich cuts at the end only, hence twice
    # reversed.
    first, last = set_cell_size(word, half), set_cell_size(word[::-1], half)[::-1]
    return f"{first.rstrip()}...{last.lstrip()}"


def _joined(texts: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    padded = []
    for text, column, width in zip(texts, columns, widths, strict=True):
        space = " " * (width - cell_len(text))
        padded.append(space + text if column.right else text + space)
    return (" " * GAP).join(padded).rstrip()
