"""Objects as keys of caches, by identity instead of by value."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
# A node, its graph, and what is known of them.
_last: list[tuple[object, object, dict[Hashable, Any]]] = [(None, None, {})]

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


def known_of(node: object, graph: object) -> dict[Hashable, Any]:
    """Results for a node of a graph, which callers add. Only those for the node of the last call
    are kept: many kernels are asked about one node in turn, and share parts of their answers."""
    last = _last[0]
    if last[0] is not node or last[1] is not graph:
        _last[0] = last = node, graph, {}
    return last[2]
