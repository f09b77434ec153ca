"""Whether two trees of microgen give firmware with the same loaded bytes.

    python -m scripts.same_bytes TREE [--network NAME] [--board NAME] [--optimize GOAL]

TREE is another checkout, for example a worktree of an older commit. Both generate and build the
combinations of ``scripts/bench/matrix.yml``, or those with the names that are given. Debug
information, notes and the names of files may differ; every byte that is loaded, and its address,
may not. Exit status 1 if one does, or if both trees refuse all combinations.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from elftools.elf.elffile import ELFFile

from scripts.bench.matrix import ROOT, Combination, Matrix, load

Loaded = list[tuple[int, int, bytes]]  # address, size in memory, bytes of the file
REFUSED = "refused by both trees"


def main(arguments: Sequence[str]) -> int:
    """Compare, and print one line for each combination that differs, and their number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tree", type=Path, help="another checkout")
    parser.add_argument("--network", action="append", default=[])
    parser.add_argument("--board", action="append", default=[])
    parser.add_argument("--optimize", action="append", default=[])
    options = parser.parse_args(arguments)
    matrix = load()
    combinations = [
        one
        for one in matrix.select(options.network, options.board, options.optimize)
        if not matrix.boards[one.board].runs_on  # it has the code of another board
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda one: difference(options.tree, matrix, one), combinations))
    for one, result in zip(combinations, results, strict=True):
        if result not in ("", REFUSED):
            print(f"{one}: {result}", flush=True)
    refused = results.count(REFUSED)
    different = sum(map(bool, results)) - refused
    print(f"{len(combinations) - refused} firmware images, {different} differ; {refused} {REFUSED}")
    return 1 if different or refused == len(combinations) else 0


def difference(tree: Path, matrix: Matrix, one: Combination) -> str:
    """The first difference between the loaded bytes of two trees, "" if there is none, or
    ``REFUSED`` if neither tree gives an image, and both say the same."""
    with tempfile.TemporaryDirectory(prefix="same-bytes-") as folder:
        model = matrix.networks[one.network].path
        sides = [
            loaded(each, model, one, Path(folder, name))
            for name, each in (("old", tree.resolve()), ("new", ROOT))
        ]
    if isinstance(sides[0], str) or isinstance(sides[1], str):
        return REFUSED if sides[0] == sides[1] else f"{sides[0]!r:.300} and {sides[1]!r:.300}"
    for old, new in zip(*sides, strict=False):
        if old != new:
            return f"the segment at {old[0]:#x} differs"
    return "" if len(sides[0]) == len(sides[1]) else "there are more segments"


def loaded(tree: Path, model: Path, one: Combination, folder: Path) -> Loaded | str:
    """The loaded segments of a firmware that a tree generates and builds, or why there is none."""
    options = ["-b", one.board, "--optimize", one.optimize, "-o", str(folder)]
    for command in (["generate", str(model), *options], ["build", str(folder)]):
        done = subprocess.run(
            # -P, because otherwise the current folder would come before PYTHONPATH's tree.
            [sys.executable, "-P", "-m", "microgen", *command],
            env={**os.environ, "PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            return done.stderr.strip().replace(str(folder), "FOLDER").replace(str(tree), "TREE")
    (elf,) = (path for path in (folder / "build").rglob("*.elf"))
    with elf.open("rb") as file:
        return [
            (segment["p_paddr"], segment["p_memsz"], segment.data())
            for segment in ELFFile(file).iter_segments("PT_LOAD")
        ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
