"""Counts the lines that code runs, to tell linear work from quadratic without a clock."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import microgen

_OURS = (str(Path(microgen.__file__).parent), str(Path(__file__).parents[2] / "templates"))


def lines_run(work: Callable[[], object]) -> Counter[str]:
    """The number of lines that each function of microgen and each template runs.

    Each turn of a loop and of a comprehension is counted.
    """
    counts: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _argument: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(_OURS):
            return None
        if event == "line":
            counts[code] += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    named: Counter[str] = Counter()
    for code, lines in counts.items():
        named[f"{Path(code.co_filename).name}:{code.co_qualname}"] += lines
    return named


def more_than_linear(work: Callable[[int], Callable[[], object]], size: int) -> list[str]:
    """The functions whose work grows faster than the size.

    ``work(n)`` prepares the counted work. If the work is linear, the counts at ``size``, twice and
    three times as much are on a straight line. If a function runs c n^2 lines, its counts deviate
    from a line by 2 c size^2.
    """
    once, twice, thrice = (lines_run(work(size * k)) for k in (1, 2, 3))
    return [
        f"{name}: {once[name]}, {twice[name]}, {thrice[name]} lines"
        for name in thrice
        if thrice[name] - 2 * twice[name] + once[name] > once[name] / 4 + 30
    ]
