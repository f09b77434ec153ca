"""Scalars and attribute values in the form of Relay text: ``2f``, ``1``, ``3i64``, ``[1, 1]``.

A number's suffix is its dtype: no suffix is int32, ``f`` float32, ``i8`` int8, ``f64`` float64, and
``u8`` uint8, which TVM's text lacks. Floats are written with enough digits to read the same value
again; TVM's own printer rounds them to six.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array

_WORDS = {"f": "float", "i": "int", "u": "uint"}
_SUFFIXES = {"int32": "", "float32": "f"} | {
    f"{word}{bits}": f"{letter}{bits}"
    for letter, word in _WORDS.items()
    for bits in (8, 16, 32, 64)
    if not (letter == "f" and bits == 8) and f"{word}{bits}" not in ("int32", "float32")
}
_DTYPES = (
    {suffix: dtype for dtype, suffix in _SUFFIXES.items()}
    | {"i32": "int32"}
    | {
        "i": "int32",
        "f32": "float32",
    }
)
NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|inf|nan)(?:[fiu]\d*)?")
_PARTS = re.compile(r"(-?(?:inf|nan|[^fiu]+))([fiu]\d*)?")
_MAX_DIGITS = 400  # the largest float64 has 309


def _float_text(value: float, dtype: str) -> str:
    text = str(value) if dtype == "float64" else str(np.dtype(dtype).type(value))
    # The dtype's suffix already says that it is a float.
    return text.removesuffix(".0")


def scalar_text(data: Array) -> str:
    """A 0-d array as text."""
    dtype = data.dtype.name
    if dtype == "bool":
        return str(bool(data))
    value = data.item()
    number = _float_text(value, dtype) if isinstance(value, float) else str(value)
    return f"{number}{_SUFFIXES[dtype]}"


def scalar(text: str) -> Array:
    """The 0-d array that a number's text means.

    Raises ValueError with a sentence if it is not a number, or if its dtype cannot hold it.
    """
    match = _PARTS.fullmatch(text)
    number, suffix = match.groups() if match else (text, "")
    is_float = any(c in number for c in ".eEnN") or (suffix or "").startswith("f")
    dtype = _DTYPES.get(suffix or ("f" if is_float else ""))
    # The length is checked before int(), which raises another error for thousands of digits.
    if dtype is None or len(number) > _MAX_DIGITS:
        raise ValueError(f"{text[:40]!r} is not a number of a known dtype")
    if dtype.startswith("float"):
        return _float(number, dtype)
    if is_float:
        raise ValueError(f"{text[:40]!r} is not an integer")
    return _int(int(number), "int64" if suffix is None and _is_long(number) else dtype)


def _is_long(number: str) -> bool:
    """Whether an integer without a suffix has 64 bits, as in TVM."""
    return not -(2**31) <= int(number) < 2**31


def _float(number: str, dtype: str) -> Array:
    value = float(number)
    if math.isfinite(value) and abs(value) <= float(np.finfo(dtype).max):
        return np.array(value, dtype)
    if "n" not in number:  # neither inf nor nan
        raise ValueError(f"{number[:40]} is out of the range of {dtype}")
    return np.array(value, dtype)


def _int(value: int, dtype: str) -> Array:
    info = np.iinfo(dtype)
    if not info.min <= value <= info.max:
        raise ValueError(f"{str(value)[:40]} is out of the range of {dtype}")
    return np.array(value, dtype)


def attr_number(text: str) -> int | float:
    """A number for an attribute: an integer unchanged, any other number as a double.

    A suffix does not change the value: 1e-05f is the double nearest to 1e-05. Raises ValueError
    with a sentence if it is not a number.
    """
    number = _PARTS.sub(r"\1", text)
    if len(number) <= _MAX_DIGITS and ("f" in text or any(c in number for c in ".eE")):
        value = float(number)
        if math.isinf(value) and "n" not in number:
            raise ValueError(f"{number[:40]} is out of the range of float64")
        return value
    return int(scalar(text))


def string_text(value: str) -> str:
    """A quoted string. Only characters that cannot be in a line of ASCII are escaped."""
    return json.dumps(value)


def attr_text(value: Any) -> str:
    """The text of an attribute's value: None, a bool, a number, a string, or a list of these."""
    match value:
        case None | bool():
            return str(value)
        case float():
            return f"{_float_text(value, 'float64')}f"
        case str():
            return string_text(value)
        case tuple():
            return f"[{', '.join(map(attr_text, value))}]"
        case _:
            return str(value)


def string_value(text: str) -> str:
    """The string that a quoted string means. ValueError if it is not well formed."""
    value = json.loads(text)
    value.encode()  # raises for a lone surrogate, which is not text
    return str(value)
