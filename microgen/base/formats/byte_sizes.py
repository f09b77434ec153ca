"""Numbers of bytes as people write them: ``12288``, ``12K``, ``64KiB``, ``1M``."""

from __future__ import annotations

import re

EXPECTED = "expected bytes, as 12288, 12K, 64KiB or 1M (K is 1024)"
_SIZE = re.compile(r"([0-9]+)(?:([KMG])(?:i?B)?|B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# Longer numbers than this one are no sizes: no 64-bit machine has so many bytes.
_MOST = 1 << 63


def parse(text: str) -> int:
    """The number of bytes: decimal digits, then optionally K, M or G for 1024, 1024^2 or 1024^3, as
    in linker scripts. A B or iB after that changes nothing. Raises ValueError for anything else."""
    match = _SIZE.fullmatch(text)
    # Checked before int(), which raises another error for thousands of digits.
    if match is None or len(match[1]) > len(str(_MOST)):
        raise ValueError(f"{text!r} is not a size: {EXPECTED}")
    return int(match[1]) * _UNITS[(match[2] or "").upper()]


def of_data(value: object) -> int:
    """The number of bytes in data from YAML or JSON: a whole number, or a text for ``parse``.
    Raises ValueError."""
    return parse(value) if isinstance(value, str) else int(value)  # type: ignore[call-overload]
