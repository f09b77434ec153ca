"""How often seeds draw each operator in each dtype.

``python -m tests.differential.coverage 1000 3000`` prints the table for those seeds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from tests.differential import makers
from tests.differential.generator import generate
from tests.differential.makers import EVERY

COLUMNS = (*EVERY, "hybrid")

Counts = Counter[tuple[str, str]]


def count(seeds: Iterable[int]) -> Counts:
    """The number of layers of each kind in these seeds' networks."""
    return Counter(kind for seed in seeds for kind in generate(seed).net.kinds)


def table(counts: Counts) -> str:
    """A table of a row per operator and a column per dtype. A dash means that the operator does not
    take the dtype."""
    kinds = makers.registry()
    lines = [f"{'':30}" + "".join(f"{dtype:>9}" for dtype in COLUMNS)]
    for code in sorted({code for code, _ in kinds}):
        cells = [str(counts[code, d]) if (code, d) in kinds else "-" for d in COLUMNS]
        lines.append(f"{code:30}" + "".join(f"{cell:>9}" for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    found = count(range(int(sys.argv[1]), int(sys.argv[2])))
    print(table(found))
    print(f"{sum(found.values())} layers; the rarest of {len(makers.registry())} kinds: ", end="")
    print(min(found[kind] for kind in makers.registry()))
