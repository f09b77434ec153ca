"""The marker ``sampled(n)``, for tests whose cases repeat each other for other boards, compilers,
options or seeds: n of the cases are part of every run, the others are slow. ``seeds`` does
the same for the random cases of one test."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest


def mark_others_slow(items: Sequence[pytest.Item]) -> None:
    """Mark as slow the cases that their test's ``sampled`` leaves out. Cases that are slow anyway
    are not counted."""
    tests: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("slow"):
            tests.setdefault((item.location[0], item.location[2].split("[")[0]), []).append(item)
    for cases in tests.values():
        (count,) = cases[0].get_closest_marker("sampled").args  # type: ignore[union-attr]
        kept = spread(len(cases), count)
        for index, item in enumerate(cases):
            if index not in kept:
                item.add_marker(pytest.mark.slow)


def spread(cases: int, count: int) -> set[int]:
    """Up to ``count`` indices of cases, from the first to the last at equal distances."""
    if count >= cases:
        return set(range(cases))
    return {index * (cases - 1) // max(1, count - 1) for index in range(count)}


def seeds(count: int) -> range:
    """The seeds of ``count`` random cases. In a run without slow tests it is the first fifth."""
    return range(-(-count // 5) if "TESTS_BUILD_QUICKLY" in os.environ else count)
