"""C initialisers from numbers and arrays."""

from __future__ import annotations

import math

import numpy as np

from microgen.base.errors import InternalError
from microgen.graph.ir.graph import Array
from microgen.planner.program.types import Value
from microgen.project.emit import floats

# Numbers in a line of a table. Even the longest numbers fit in layout.WIDTH.
_PER_LINE = {"int8_t": 16, "uint8_t": 16, "int16_t": 12, "uint16_t": 12}
_PER_LINE |= {"int64_t": 4, "uint64_t": 3}
_PER_LINE_OF_OTHERS = 6
_UNSIGNED = {"uint32_t": "U", "uint64_t": "U"}  # which C99 would read as signed, or not at all
_INT_MIN = {"int32_t": -(2**31), "int64_t": -(2**63)}  # least values, which have no literal in C


def table(array: Array, ctype: str) -> str:
    """The elements as initialisers, several on each line, indented by four."""
    if array.dtype.kind not in "iubf":
        raise InternalError(f"no C literal for {array.dtype}", where=ctype)
    flat = array.reshape(-1)
    step = per_line(ctype)
    if ctype == "float" and flat.dtype == np.float32 and flat.size and floats.are_plain(flat):
        return floats.lines(flat, step)
    # One line's numbers at a time are Python objects, which take ten times the space of text.
    lines = (flat[i : i + step].tolist() for i in range(0, len(flat), step))
    return "\n".join(f"    {', '.join(_literal(v, ctype) for v in line)}," for line in lines)


def per_line(ctype: str) -> int:
    """The number of elements on a line."""
    return _PER_LINE.get(ctype, _PER_LINE_OF_OTHERS)


def _literal(value: Value, ctype: str) -> str:
    if ctype == "float":
        return _float(value)
    if ctype in _UNSIGNED:
        return f"{int(value)}{_UNSIGNED[ctype]}"
    # The least value of a type has no literal: ``-2147483648`` is minus a number of a larger type.
    return f"({int(value) + 1} - 1)" if value == _INT_MIN.get(ctype) else str(int(value))


def _float(value: float) -> str:
    """A float32 value, exactly, in hexadecimal."""
    # C99 has no literals for NaN and infinities, so they are quotients.
    if math.isnan(value):
        return "(0.0F / 0.0F)"
    if math.isinf(value):
        return "(1.0F / 0.0F)" if value > 0 else "(-1.0F / 0.0F)"
    mantissa, exponent = float(value).hex().split("p")
    digits = mantissa.rstrip("0") if "." in mantissa else mantissa
    return f"{digits}0p{exponent}F" if digits.endswith(".") else f"{digits}p{exponent}F"


def decimal(value: float) -> str:
    """A positive, finite float32 value, exactly, in decimal."""
    # The header may be read as C++, which before C++17 has no hexadecimal literals for floats.
    text = str(np.float32(value))  # as many digits as tell it from others
    return f"{text}F" if "." in text or "e" in text else f"{text}.0F"


def negatable(value: int) -> str:
    """An integer literal that is valid anywhere in an expression."""
    # "-" after an operator could be read as another operator.
    return f"({value})" if value < 0 else str(value)


def scalar(value: Value) -> str:
    """A parameter as an initialiser: an int32 or a float32."""
    return _literal(value, "float" if isinstance(value, float) else "int32_t")


def string(text: str) -> str:
    """A string literal of the text's UTF-8 bytes: ASCII, and free of trigraphs."""
    plain = (_byte(byte) for byte in text.encode("utf-8", "backslashreplace"))
    return f'"{"".join(plain)}"'


def _byte(byte: int) -> str:
    is_plain = 0x20 <= byte <= 0x7E and byte not in b'"\\?'
    # Three octal digits end by themselves; an escape in hexadecimal would include digits after it.
    return chr(byte) if is_plain else f"\\{byte:03o}"


def text(value: str) -> str:
    """A C string literal with the bytes of the text in UTF-8."""
    # A question mark may begin a trigraph, and three octal digits end an escape.
    plain = (
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in value.encode()
    )
    return f'"{"".join(plain)}"'
