"""Objects as keys of caches, by identity instead of by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

# Entries of a cache by node or constant. Partition, schedule and certificate ask for every node of
# a graph in turn, so a cache of fewer entries than the graph has nodes would never be of use.
KEPT = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Same(Generic[T]):
    """An object that nothing changes, such as an array or a graph. Different objects are different
    keys even if their values are equal, so no values are compared.
    """

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        # A cache's key holds the object, so its id is not given to another one while the key
        # exists.
        return id(self.value)
