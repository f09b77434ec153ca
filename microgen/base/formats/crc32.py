"""CRC-32 as the GDB remote protocol and RP2040's boot ROM compute it, known as CRC-32/MPEG-2.

zlib has another one, which reflects the bits and inverts the result.
"""

from __future__ import annotations

_POLYNOMIAL = 0x04C11DB7


def crc32(data: bytes) -> int:
    """The CRC of the data, the most significant bit first, from all ones, not inverted."""
    value = 0xFFFFFFFF
    for byte in data:
        # A look-up for each byte instead of eight shifts.
        value = _TABLE[(value >> 24) ^ byte] ^ (value << 8 & 0xFFFFFFFF)
    return value


def _table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1 & 0xFFFFFFFF) ^ (_POLYNOMIAL if value >> 31 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _table()
