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
from microgen.relay.expr import DTYPES

# One table for both directions: a dtype's first letter and its bits.
_LONG_SUFFIXES = {dtype: re.sub("[a-z]+", dtype[0], dtype) for dtype in DTYPES if dtype != "bool"}
_SUFFIXES = {**_LONG_SUFFIXES, "int32": "", "float32": "f"}
_DTYPES = {
    suffix: dtype for table in (_LONG_SUFFIXES, _SUFFIXES) for dtype, suffix in table.items()
} | {"i": "int32"}
# The other words of attributes, which are Python's.
WORDS = {str(word): word for word in (True, False, None)}
NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|inf|nan)(?:[fiu]\d*)?")
_PARTS = re.compile(r"(-?(?:inf|nan|[^fiu]+))([fiu]\d*)?")
_MAX_DIGITS = 400  # the largest float64 has 309


def _float_text(value: float, dtype: str) -> str:
    # numpy's text has just enough digits for its dtype, so reading it gives the same value.
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
    # As in TVM, a number without a suffix is a float32 or an int32.
    dtype = _DTYPES.get(suffix or ("f" if is_float else ""))
    # The length is checked before int(), which raises another error for thousands of digits.
    if dtype is None or len(number) > _MAX_DIGITS:
        raise ValueError(f"{text[:40]!r} is not a number of a known dtype")
    if dtype.startswith("float"):
        # inf and nan, the only numbers with this letter, have no range.
        limit = math.inf if "n" in number else float(np.finfo(dtype).max)
        return _in_range(float(number), -limit, limit, number, dtype)
    if is_float:
        raise ValueError(f"{text[:40]!r} is not an integer")
    value = int(number)
    if suffix is None and not -(2**31) <= value < 2**31:
        dtype = "int64"  # as in TVM, where a suffix would keep its own
    info = np.iinfo(dtype)
    return _in_range(value, info.min, info.max, str(value), dtype)


def _in_range(value: float, low: float, high: float, text: str, dtype: str) -> Array:
    if value < low or value > high:
        raise ValueError(f"{text[:40]} is out of the range of {dtype}")
    return np.array(value, dtype)


def attr_number(text: str) -> int | float:
    """A number for an attribute: an integer unchanged, any other number as a double.

    A suffix does not change the value: 1e-05f is the double nearest to 1e-05. Raises ValueError
    with a sentence if it is not a number.
    """
    # Attributes are doubles in TVM, although its printer writes the suffix of a float32.
    number = _PARTS.sub(r"\1", text)
    if len(number) <= _MAX_DIGITS and ("f" in text or any(c in number for c in ".eE")):
        value = float(number)
        if math.isinf(value) and "n" not in number:
            raise ValueError(f"{number[:40]} is out of the range of float64")
        return value
    return int(scalar(text))


def attr_text(value: Any) -> str:
    """The text of an attribute's value: None, a bool, a number, a string, or a list of these."""
    match value:
        case None | bool():
            return str(value)
        case float():
            # With an f, because a whole number, whose `.0` is left out, would be read as an
            # integer.
            return f"{_float_text(value, 'float64')}f"
        case str():
            return json.dumps(value)  # only characters outside a line of ASCII are escaped
        case tuple():
            return f"[{', '.join(map(attr_text, value))}]"
        case _:
            return str(value)


def string_value(text: str) -> str:
    """The string that a quoted string means. ValueError if it is not well formed."""
    value = json.loads(text)
    value.encode()  # raises for a lone surrogate, which is not text
    return str(value)
