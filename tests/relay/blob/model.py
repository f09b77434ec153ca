"""The serializer's rules a second time, by recursion and by looking at all pairs. It shares no code
with the serializer."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def order(library: Sequence[bool], edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """Groups of modules in the order of their numbers in the blob."""
    seen = {0}
    before: list[int] = []
    boundary: list[int] = []
    group: list[int] = []
    after: list[int] = []

    def fresh(module: int) -> list[int]:
        found = [child for child in dict.fromkeys(edges[module]) if child not in seen]
        seen.update(found)
        return found[::-1]

    def outside(module: int) -> None:
        if library[module]:
            boundary.append(module)
            return
        before.append(module)
        for child in fresh(module):
            outside(child)

    def inside(module: int) -> None:
        (group if library[module] else after).append(module)
        for child in fresh(module):
            inside(child)

    outside(0)
    for module in boundary[::-1]:
        inside(module)
    return [[m] for m in before] + ([group] if group else []) + [[m] for m in after]


def blob(library: Sequence[bool], edges: Sequence[Sequence[int]]) -> bytes | None:
    """The blob's bytes; None if the imports are refused.

    Each module's payload is its number. The root must import something.
    """
    groups = order(library, edges)
    numbers = range(len(groups))
    rows = [
        [c for c in numbers if c != p and any(x in edges[m] for m in groups[p] for x in groups[c])]
        for p in numbers
    ]
    if any(child < parent for parent in numbers for child in rows[parent]):
        return None
    words: list[int | bytes] = [len(groups) + 1]
    for members in groups:
        words += [4, b"_lib"] if library[members[0]] else [1, b"k", members[0]]
    ends = [sum(map(len, rows[:i])) for i in range(len(rows) + 1)]
    flat = [child for row in rows for child in row]
    words += [12, b"_import_tree", len(ends), *ends, len(flat), *flat]
    body = b"".join(w if isinstance(w, bytes) else struct.pack("<Q", w) for w in words)
    return struct.pack("<Q", len(body)) + body
