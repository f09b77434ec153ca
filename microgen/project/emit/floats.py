"""Tables of float32 in C, whose numbers are written by numpy, many at a time.

The text is that of ``float.hex`` without trailing zeros, and with a suffix: ``-0x1.8p-3F``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from microgen.graph.ir.graph import Array

_PREFIX, _SIGN, _POINT, _DIGITS, _POWER, _EXPONENT, _END = 0, 4, 5, 9, 15, 17, 20
_WIDTH = 23  # characters of a number with everything around it
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_TEMPLATE = np.frombuffer(b"    -0x1.......p+000F,\n", np.uint8)

Bits = npt.NDArray[np.int64]


def are_plain(values: Array) -> bool:
    """Whether all numbers have literals: there are none for NaN and infinities."""
    return bool(np.isfinite(values).all())


def lines(values: Array, per_line: int) -> str:
    """The numbers, each followed by a comma, in lines that are indented by four. They must be
    finite."""
    count = values.size
    # float64 has every float32 as a normal number.
    bits = values.reshape(-1).astype(np.float64).view(np.int64)
    is_zero = (bits << 1) == 0
    exponent = np.where(is_zero, 0, ((bits >> 52) & 0x7FF) - 1023)
    # A float32 has 23 bits after the point, which are six digits.
    nibbles = (bits[:, None] >> np.arange(48, 24, -4)) & 0xF
    text = np.tile(_TEMPLATE, (count, 1))
    text[is_zero, _POINT + 2] = ord("0")
    text[:, _DIGITS:_POWER] = _HEX[nibbles]
    text[exponent < 0, _POWER + 1] = ord("-")
    decimal = np.abs(exponent)[:, None] // np.array([100, 10, 1])
    text[:, _EXPONENT:_END] = _HEX[decimal % 10]
    place = np.arange(count) % per_line
    is_shown = np.ones((count, _WIDTH), bool)
    is_shown[place > 0, _PREFIX : _SIGN - 1] = False
    is_shown[:, _SIGN] = bits < 0
    # A digit is shown if it or one after it is not zero; the first always is.
    is_shown[:, _DIGITS + 1 : _POWER] = np.logical_or.accumulate(nibbles[:, :0:-1] != 0, 1)[:, ::-1]
    is_shown[:, _EXPONENT : _END - 1] = decimal[:, :2] > 0
    is_shown[:, -1] = place == per_line - 1
    return text[is_shown].tobytes().decode("ascii").rstrip("\n")
