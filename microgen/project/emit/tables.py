"""Tables of constants in C: their types, their initialisers piece by piece, and their addresses.

GCC takes 70 to 130 times the bytes of a table that is written as numbers, and about 20 times the
bytes of one that is written as strings. Large tables of bytes are therefore structs of rows, each
of which is a string literal without a terminator. C99 has literals of at most 4095 characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.planner.program.types import FirmwareConstant
from microgen.project.emit import literals

LARGE = 2**16  # bytes from which on a table of bytes is written as strings
_LINE = 28  # bytes, of four characters each, so that lines are no longer than layout.WIDTH
_LINES = 146
ROW = _LINE * _LINES  # bytes: as many lines as C99 allows in one literal
_AT_ONCE = 2**15  # numbers in a piece of text

# Three octal digits end by themselves, whatever follows, and no trigraph has a backslash before it.
_OCTAL = np.frombuffer("".join(f"\\{byte:03o}" for byte in range(256)).encode(), np.uint8)
_OCTAL = _OCTAL.reshape(256, 4)


def has_rows(constant: FirmwareConstant) -> bool:
    """Whether the table is a struct of rows."""
    return constant.ctype in ("int8_t", "uint8_t") and constant.array.nbytes >= LARGE


def address(constant: FirmwareConstant, symbol: str) -> str:
    """The address of the first element, as an expression of the element's type."""
    # A pointer to the whole struct may visit all of its bytes; a pointer to a row may visit only
    # the row's bytes.
    return f"(const {constant.ctype} *)&{symbol}" if has_rows(constant) else symbol


def declared(constant: FirmwareConstant, symbol: str) -> str:
    """The type and the name, for the table's definition."""
    if has_rows(constant):
        return f"const struct {symbol}_rows {symbol}"
    return f"const {constant.ctype} {symbol}[{constant.array.size}]"


def fields(constant: FirmwareConstant) -> list[str]:
    """The struct's fields, which together have exactly the table's bytes; none for an array."""
    if not has_rows(constant):
        return []
    rows, rest = divmod(constant.array.size, ROW)
    last = [f"{constant.ctype} rest[{rest}];"] if rest else []
    return [f"{constant.ctype} rows[{rows}][{ROW}];", *last]


@dataclass(frozen=True, slots=True)
class Initialisers:
    """The elements between the outer braces: lines of text, some thousands of numbers at a time.
    It can be iterated over again."""

    constant: FirmwareConstant

    def __iter__(self) -> Iterator[str]:
        array = self.constant.array
        if has_rows(self.constant):
            yield from _rows(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
            return
        flat = array.reshape(-1)
        step = _AT_ONCE // literals.per_line(self.constant.ctype)
        step *= literals.per_line(self.constant.ctype)  # whole lines
        for first in range(0, max(flat.size, 1), step):
            yield literals.table(flat[first : first + step], self.constant.ctype)


def _rows(data: Array) -> Iterator[str]:
    whole = data.size // ROW * ROW
    yield "    {"
    step = ROW * max(_AT_ONCE // ROW, 1)
    for first in range(0, whole, step):
        yield _literals(data[first : min(first + step, whole)].reshape(-1, _LINES, _LINE))
    yield "    },"
    rest = data[whole:]
    lines = rest.size // _LINE * _LINE
    yield from filter(None, (_lines(rest[:lines].reshape(-1, _LINE)), _lines(rest[None, lines:])))


def _literals(rows: Array) -> str:
    """Rows [rows, lines of a row, bytes of a line] as literals, each followed by a comma."""
    return "\n".join(f"{_lines(row)}," for row in rows)


def _lines(lines: Array) -> str:
    """Lines [lines, bytes] of one literal, each in quotes of its own; empty without bytes."""
    if not lines.size:
        return ""
    count = len(lines)
    text = np.full((count, 4 * lines.shape[1] + 7), ord(" "), np.uint8)
    text[:, 4] = text[:, -2] = ord('"')
    text[:, 5:-2] = _OCTAL[lines].reshape(count, -1)
    text[:, -1] = ord("\n")
    return text.tobytes().decode("ascii")[:-1]
