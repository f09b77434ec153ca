"""Rooms, the arrows between them, and floors.

A room is a folder or module directly in ``microgen/``. ``__init__``, ``__main__`` and ``version``
are the package's doors, not rooms, because every package has them. Both counts are shown: with the
doors, ``crt/`` and ``templates/``, which import nothing, commit 3a2156aa has 46 rooms and 288
arrows; without them it has 41 rooms and 279 arrows.

An arrow goes from a room to another from which one of its modules imports, at any depth of the
code, also for type checkers only. Names that ``importlib`` imports are no arrows.
An arrow goes up if it is in a circle: of each circle, the arrow that the fewest imports draw is
taken out until there is none, and those taken out are counted. A room's floor is one above the
highest room that it imports from; the ground is floor 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from scripts.house.tree import PYTHON, Figure, Tree, module

DOORS = frozenset({"__init__", "__main__", "version"})
OTHER_ROOMS = ("crt", "templates")

Arrow = tuple[str, str]


def measure(tree: Tree) -> dict[str, Figure]:
    """Rooms, arrows, floors, and arrows that go up."""
    every = arrows(tree)
    parts = {part(tree, path) for path in tree.files("microgen", PYTHON)}
    own = Counter({arrow: n for arrow, n in every.items() if not DOORS & set(arrow)})
    others = [name for name in OTHER_ROOMS if (tree.root / name).is_dir()]
    up = against(own)
    down = set(own) - set(up)
    doors = f"with the doors, {' and '.join(others)}: {len(parts) + len(others)}"
    return {
        "rooms": Figure(len(parts - DOORS), doors),
        "arrows": Figure(len(own), f"with the doors: {len(every)}"),
        "floors": Figure(max(floors(parts, down).values(), default=0)),
        "arrows up": Figure(len(up), ", ".join(f"{a} -> {b}" for a, b in up)),
    }


def part(tree: Tree, path: Path) -> str:
    """The folder or module directly in ``microgen/`` to which a module belongs."""
    return path.relative_to(tree.root / "microgen").parts[0].removesuffix(".py")


def arrows(tree: Tree) -> Counter[Arrow]:
    """The arrows between the parts of microgen, with the number of names that draw each."""
    modules = tree.files("microgen", PYTHON)
    parts = {part(tree, path) for path in modules}
    drawn: Counter[Arrow] = Counter()
    for path in modules:
        here = part(tree, path)
        for name in module(path).imports:
            if not name.startswith("microgen."):
                continue
            there = name.split(".")[1]
            there = there if there in parts else "__init__"
            if there != here:
                drawn[here, there] += 1
    return drawn


def against(drawn: Counter[Arrow]) -> list[Arrow]:
    """The arrows to take out until there is no circle, arrows with the fewest imports first."""
    left, out = set(drawn), []
    while circling := [arrow for arrow in left if arrow[0] in _reached(arrow[1], left)]:
        # By name if counts are equal, so that the figure does not depend on the order of a set.
        weakest = min(circling, key=lambda arrow: (drawn[arrow], arrow))
        left.remove(weakest)
        out.append(weakest)
    return out


def _reached(start: str, drawn: Iterable[Arrow]) -> set[str]:
    """The rooms to which arrows lead from a room, and itself."""
    reached, new = {start}, [start]
    while new:
        here = new.pop()
        there = {b for a, b in drawn if a == here} - reached
        reached |= there
        new += there
    return reached


def floors(parts: Iterable[str], down: Iterable[Arrow]) -> dict[str, int]:
    """The floor of each room, for arrows without circles."""
    below: dict[str, set[str]] = {name: set() for name in parts}
    for a, b in down:
        below[a].add(b)
    found: dict[str, int] = {}

    def floor(name: str) -> int:
        if name not in found:
            found[name] = 1 + max(map(floor, below[name]), default=0)
        return found[name]

    for name in below:
        floor(name)
    return found
