"""Arrays as keys of caches."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.ir.graph import Array


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """An array that nothing changes. Another one is another key, whatever its values are, so no
    values are compared."""

    array: Array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.array is other.array

    def __hash__(self) -> int:
        return id(self.array)
