"""Names of the tensors inside loops and branches, which graphs of their own compute."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from microgen.graph.ir.graph import Array

_IN_ROUND = re.compile(r"(.*)@([0-9.]+)", re.S)


def inner_name(result: str, number: int, tensor: str) -> str:
    """The name that a tensor of a graph inside a node has outside. ``result`` is the node's first
    result, ``number`` the number of the graph. Tensors of different graphs may have one name."""
    return f"{result}:{number}:{tensor}"


def in_round(name: str, done: Sequence[int]) -> str:
    """The name of the value that a tensor has in these rounds, counted from 0, of the loops around
    it, the outermost first."""
    return f"{name}@{'.'.join(map(str, done))}"


def in_loop(lead: str, tensor: str, number: int) -> str:
    """The name outside of the loop for a tensor in round ``number``. Its name inside may itself
    contain rounds of further loops."""
    match = _IN_ROUND.fullmatch(tensor)
    if match is None:
        return in_round(f"{lead}{tensor}", (number,))
    return f"{lead}{match[1]}@{number}.{match[2]}"


def plain(name: str) -> str:
    """The name of a tensor without the rounds."""
    match = _IN_ROUND.fullmatch(name)
    return match[1] if match else name


def of_round(found: Mapping[str, Array], lead: str, number: int) -> dict[str, Array]:
    """The values in round ``number`` of a loop, by their names in its graph. The values of further
    loops inside are still by their rounds. ``lead`` begins the names of the loop's tensors."""
    values = {}
    for name, array in found.items():
        match = _IN_ROUND.fullmatch(name) if name.startswith(lead) else None
        if match is None:
            continue
        first, _, rest = match[2].partition(".")
        if int(first) == number:
            values[match[1].removeprefix(lead) + (f"@{rest}" if rest else "")] = array
    return values
