"""The memory of a core, as the calls of its program use it."""

from __future__ import annotations

from typing import Protocol


class RemoteMemory(Protocol):
    """A core's memory. Methods raise GdbError and TimeoutError."""

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        ...

    def write(self, address: int, data: bytes) -> None:
        """Write bytes to RAM."""
        ...
