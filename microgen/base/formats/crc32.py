"""CRC-32 as the GDB remote protocol and RP2040's boot ROM compute it, known as CRC-32/MPEG-2."""

from __future__ import annotations

import zlib

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def crc32(data: bytes) -> int:
    """The CRC of the data, the most significant bit first, from all ones, not inverted."""
    # zlib's CRC has the same polynomial and start, but reflects the bits and inverts the result.
    reflected = zlib.crc32(data.translate(_REVERSED)) ^ 0xFFFFFFFF
    return int(f"{reflected:032b}"[::-1], 2)
