"""Bytes in the layout of TVM's (dmlc's) binary streams: little-endian, without padding.

string = u64 length, its bytes        vector<T> = u64 count, that many T
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from microgen.base.errors import MicrogenError


def number(value: int) -> bytes:
    """A u64."""
    return struct.pack("<Q", value)


def numbers(values: Sequence[int]) -> bytes:
    """A vector<u64>."""
    return struct.pack(f"<{1 + len(values)}Q", len(values), *values)


def string(text: str) -> bytes:
    """A string of the text's UTF-8 bytes."""
    data = text.encode()
    return number(len(data)) + data


def strings(texts: Sequence[str]) -> bytes:
    """A vector<string>."""
    return number(len(texts)) + b"".join(map(string, texts))


class Stream:
    """A cursor over bytes that never reads past their end and trusts no count that exceeds them.

    Refusals are raised as ``error``, with ``where`` (which the caller may keep up to date)
    and ``hint``.
    """

    def __init__(self, data: bytes, error: type[MicrogenError], where: str, hint: str) -> None:
        self._data = data
        self._error = error
        self._hint = hint
        self.where = where
        self.at = 0

    @property
    def left(self) -> int:
        """Bytes not yet read."""
        return len(self._data) - self.at

    def since(self, start: int) -> bytes:
        """The bytes read since the cursor was at ``start``."""
        return self._data[start : self.at]

    def refused(self, what: str) -> MicrogenError:
        """The error to raise for something that is wrong at this place."""
        return self._error(what, where=self.where, hint=self._hint)

    def take(self, nbytes: int) -> bytes:
        """Read ``nbytes`` bytes."""
        # Checked before the slice, which would be silently shorter.
        if nbytes > self.left:
            raise self.refused(f"needs {nbytes} bytes at offset {self.at}, has {self.left}")
        self.at += nbytes
        return self._data[self.at - nbytes : self.at]

    def number(self, layout: str = "<Q") -> int:
        """Read one integer of ``struct``'s layout."""
        (value,) = struct.unpack(layout, self.take(struct.calcsize(layout)))
        return int(value)

    def expect(self, layout: str, wanted: int, what: str) -> None:
        """Read an integer that must have this value."""
        value = self.number(layout)
        if value != wanted:
            raise self.refused(f"the {what} is {value:#x}, expected {wanted:#x}")

    def count(self) -> int:
        """Read a number of items that follow, each of at least 8 bytes."""
        count = self.number()
        # Checked before the caller allocates, because a damaged count may be up to 2^64 - 1.
        if count > self.left // 8:
            raise self.refused(f"claims {count} items, has {self.left} bytes")
        return count

    def numbers(self) -> tuple[int, ...]:
        """Read a vector<u64>."""
        count = self.count()
        return struct.unpack(f"<{count}Q", self.take(8 * count))

    def text(self) -> str:
        """Read a string of UTF-8."""
        try:
            return self.take(self.number()).decode()
        # A name that is not UTF-8 cannot be printed or compared, so it is refused when it is read.
        except UnicodeDecodeError as error:
            raise self.refused(f"the string that ends at offset {self.at} is not UTF-8") from error

    def texts(self) -> list[str]:
        """Read a vector<string> of UTF-8."""
        return [self.text() for _ in range(self.count())]

    def end(self, last: str) -> None:
        """Refuse bytes after ``last``."""
        if self.left:
            raise self.refused(f"{self.left} bytes follow the last {last}")
