"""Clocks as people write them: ``120000000``, ``120MHz``, ``1.5MHz``, ``32768Hz``."""

from __future__ import annotations

import re
from decimal import Decimal

EXPECTED = "expected a clock from 1 kHz to 10 GHz, as 120MHz, 1.5MHz or 32768Hz"
_CLOCK = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)([kMG]?)(?:Hz)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
# In Hz. No microcontroller has a clock outside of this range, so such a number is a mistake.
LEAST, MOST = 10**3, 10**10


def parse(text: str) -> int:
    """The clock in Hz: a number, then optionally k, M or G and Hz. Raises ValueError for anything
    else, and for clocks that no microcontroller has."""
    match = _CLOCK.fullmatch(text)
    # Decimal, because a product of binary floats need not be the whole number that is meant.
    clock = Decimal(match[1]) * _UNITS[match[2].upper()] if match else Decimal(0)
    if clock != int(clock) or not LEAST <= clock <= MOST:
        raise ValueError(f"{text!r} is not a clock: {EXPECTED}")
    return int(clock)
