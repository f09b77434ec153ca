"""``python -m scripts.house``: every figure of a tree, its goal, and a mark if it is missed."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.house import alike, road, rooms, sizes, symbols
from scripts.house.limits import LIMITS
from scripts.house.tree import Figure, Tree

_WIDTH = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one tree and print the table."""
    parser = argparse.ArgumentParser(prog="house", description=(__doc__ or "").splitlines()[0])
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("--tree", type=Path, default=here, help="another checkout")
    parser.add_argument("--time", action="store_true", help="time make check, too: minutes")
    parser.add_argument("--road", action="store_true", help="follow --ram, too: builds a firmware")
    parser.add_argument("--pairs", action="store_true", help="list the pairs of alike places")
    asked = parser.parse_args(arguments)
    tree = Tree(asked.tree.resolve())
    if asked.pairs:
        return _list_pairs(tree)
    figures = measured(tree)
    slow = {
        "kernel symbols": symbols.measure(tree),
        "make": timed(tree) if asked.time else "with --time only",
        "--ram": road.measure(tree) if asked.road else "with --road only",
    }
    for found in slow.values():
        figures |= {} if isinstance(found, str) else found
    for name in LIMITS:
        reasons = (why for part, why in slow.items() if part in name and isinstance(why, str))
        print(line(name, figures.get(name), next(reasons, "")))
    return 0


def measured(tree: Tree) -> dict[str, Figure]:
    """The figures that reading files gives."""
    return {**rooms.measure(tree), **sizes.measure(tree), **alike.measure(tree)}


def line(name: str, figure: Figure | None, reason: str = "") -> str:
    """One row of the table."""
    limit = LIMITS[name]
    if figure is None:
        return f"  {name:34} {'not measured':>12}  {limit!s:10}  {reason}".rstrip()
    mark = " " if limit.holds(figure.value) else "!"
    about = figure.about if len(figure.about) <= _WIDTH else figure.about[: _WIDTH - 3] + "..."
    return f"{mark} {name:34} {figure.value:12,g}  {limit!s:10}  {about}".rstrip()


def _list_pairs(tree: Tree) -> int:
    for folder in ("crt", "microgen"):
        for pair in alike.alike(tree, folder):
            first, second = tree.name(pair.first), tree.name(pair.second)
            print(f"{first}:{pair.line} ~ {second}:{pair.other_line}")
    return 0


def timed(tree: Tree) -> dict[str, Figure] | str:
    """The seconds of ``make check``, after ``make clean`` and again. A check that fails has none,
    because it ends early."""
    targets = {"make clean check, seconds": ("clean", "check"), "make check, seconds": ("check",)}
    seconds = {name: _seconds(tree, *each) for name, each in targets.items()}
    return {name: Figure(value) for name, value in seconds.items() if value is not None}


def _seconds(tree: Tree, *targets: str) -> int | None:
    start = time.monotonic()
    done = subprocess.run(["make", *targets], cwd=tree.root, capture_output=True, check=False)
    return None if done.returncode else round(time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
