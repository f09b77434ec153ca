"""Measurements of kernels, which ``scripts/measure.py`` writes: three tables of one form.

- ``costs.json``: the coefficients of a kernel's costs, by its symbol, for each core and form, such
  as "cortex-m4f shared"; and the amounts that requantizations add to them, by their names in C.
- ``code_bytes.json``: the bytes of each kernel's C, by the name of its function without "mg_", for
  each core, with GCC and with LLVM; and the bytes of GCC's library. Kernels whose names a macro
  joins have one row, by their header's name, with the bytes of all of them.
- ``stack_bytes.json``: the stack of each kernel, by the same name, for each core and toolchain,
  such as "cortex-m4f gcc".

A row has a number for each of the table's columns; where nothing was measured it is the table's
``absent``. Names lead to a row, such as "mg_dense_s8", "cycles", "output".
docs/explanation/costs.md describes the rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

FOLDER = Path(__file__).parent
COSTS, CODE_BYTES, STACK_BYTES = "costs", "code_bytes", "stack_bytes"
Number: TypeAlias = int | float
# Names lead to a row, or to a number of one column of it.
Rows: TypeAlias = Mapping[str, Any]
_COLUMNS, _ABSENT = "columns", "absent"
_WIDTH = 200  # characters of a line
_FIRST = re.compile(r'^"([^"]+)":', re.MULTILINE)  # names of the first level begin lines
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class MeasuredTable:
    """Rows with a number for each column."""

    # Each is named after a core, and after the form or the toolchain, if these differ.
    columns: tuple[str, ...]
    rows: Rows
    # The number that replaces missing ones. It is 0 if a coefficient of 0 means the same.
    absent: int | None = None

    @cached_property
    def cores(self) -> tuple[str, ...]:
        """The names of the measured cores."""
        return tuple(dict.fromkeys(name.partition(" ")[0] for name in self.columns))

    def column(self, name: str, *path: str) -> dict[str, Any]:
        """The numbers of one column, below the names of ``path``. Names without numbers are left
        out, so the result is empty if nothing was measured."""
        return self.by_column(*path).get(name, {})

    def by_column(self, *path: str) -> dict[str, dict[str, Any]]:
        """The same for all columns that have numbers."""
        rows = self.rows
        for each in path:
            rows = rows.get(each, {})
        found = self._split(rows)
        return {name: found[place] for place, name in enumerate(self.columns) if place in found}

    def replaced(self, name: str, numbers: Rows) -> MeasuredTable:
        """The table with other numbers in a column, which may be new."""
        every = {**{each: {} for each in self.columns}, **self.by_column(), name: numbers}
        columns = tuple(sorted(every))
        rows = self._joined([every[each] for each in columns])
        return MeasuredTable(columns, rows, self.absent)

    def _split(self, rows: Rows) -> dict[int, dict[str, Any]]:
        """Column number -> the numbers of the rows in that column."""
        absent, found = self.absent, dict[int, dict[str, Any]]()
        for name, row in rows.items():
            numbers = enumerate(row) if isinstance(row, list) else self._split(row).items()
            for place, each in numbers:
                if each != absent:
                    found.setdefault(place, {})[name] = each
        return found

    def _joined(self, columns: Sequence[Rows]) -> Rows:
        """The rows that these columns form."""
        rows: dict[str, Any] = {}
        for name in sorted({name for each in columns for name in each}):
            found = [each.get(name) for each in columns]
            if any(isinstance(each, Mapping) for each in found):
                rows[name] = self._joined([each or {} for each in found])
            elif any(each not in (None, self.absent) for each in found):
                rows[name] = [self.absent if each is None else each for each in found]
        return {name: row for name, row in rows.items() if row}


class _Lazy(Mapping[str, Any]):
    """The object of a table's text. Its values are decoded on first use, because a network needs
    the costs of few kernels.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        # Names of the first level begin lines, so the text need not be parsed to find them.
        self._places = {match[1]: match.end() for match in _FIRST.finditer(text)}
        self._found: dict[str, Any] = {}

    def pop(self, name: str) -> Any:
        """A value, which is removed from the object."""
        found = self[name]
        del self._places[name]
        return found

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            self._found[name], _ = _DECODER.raw_decode(self._text, self._places[name])
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@cache
def load(name: str) -> MeasuredTable:
    """The table of that name. Its rows are read only."""
    return loads((FOLDER / f"{name}.json").read_text("ascii"))


def loads(text: str) -> MeasuredTable:
    """The table in the text of a file."""
    rows = _Lazy(text)
    return MeasuredTable(tuple(rows.pop(_COLUMNS)), rows, rows.pop(_ABSENT))


def dumps(table: MeasuredTable) -> str:
    """The text of a table's file. Each name of the first two levels begins a line, which has as
    many of the rows below it as fit. Only lines of the first level begin without a space."""
    parts = [_filled(f'"{_COLUMNS}":[', list(map(json.dumps, table.columns)), "]")]
    parts += [f'"{_ABSENT}":{json.dumps(table.absent)}']
    for name, rows in sorted(table.rows.items()):
        starts = [f"{json.dumps(name)}:{{", *[" "] * (len(rows) - 1)]
        ends = [*[""] * (len(rows) - 1), "}"]
        parts += map(_text, sorted(rows.items()), starts, ends)
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _text(named: tuple[str, Rows | Sequence[Number | None]], start: str = "", end: str = "") -> str:
    """A name with its row or rows, between ``start`` and ``end``."""
    name, rows = named
    start += f"{json.dumps(name)}:"
    if isinstance(rows, Mapping):
        return _filled(f"{start}{{", list(map(_text, sorted(rows.items()))), f"}}{end}")
    return f"{start}[{','.join(map(_number, rows))}]{end}"


def _filled(start: str, texts: Sequence[str], end: str) -> str:
    """The texts between a start and an end, with commas, and a new line where one is full."""
    lines = [start]
    for place, text in enumerate(texts):
        more = text + (end if place == len(texts) - 1 else ",")
        if place and len(lines[-1]) + len(more) >= _WIDTH:  # a comma may follow
            lines.append(" ")
        lines[-1] += more
    return "\n".join(lines)


def _number(number: Number | None) -> str:
    return json.dumps(number if number is None or number % 1 else int(number))
