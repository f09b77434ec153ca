"""Counts what code does, to tell linear work from quadratic without a clock."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import microgen

_OURS = (str(Path(microgen.__file__).parent), str(Path(__file__).parent.parent / "templates"))


def lines_run(work: Callable[[], object]) -> Counter[str]:
    """How many lines each function of microgen and each template runs; each turn of a loop and
    of a comprehension counts."""
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
    """The functions whose work grows faster than the size does.

    ``work(n)`` prepares what is counted. For linear work the counts at ``size``, twice and three
    times as much lie on a line; c n^2 lines of a function stand out of it by 2 c size^2.
    """
    once, twice, thrice = (lines_run(work(size * k)) for k in (1, 2, 3))
    return [
        f"{name}: {once[name]}, {twice[name]}, {thrice[name]} lines"
        for name in thrice
        if thrice[name] - 2 * twice[name] + once[name] > once[name] / 4 + 30
    ]
