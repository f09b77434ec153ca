"""Schedules that a test decides: the best one, with other implementations or forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from microgen import api, schedule
from microgen.manifest.schedule import SHARED, ChoiceRecord


def changed(
    model: Path, board: str, file: Path, change: Callable[[ChoiceRecord], ChoiceRecord]
) -> str:
    """The path of ``file``, which then has the fastest schedule with each choice changed."""
    found = api.plan(model, board, optimize="speed").schedule
    functions = tuple(
        replace(function, choices=tuple(map(change, function.choices)))
        for function in found.functions
    )
    file.write_text(schedule.file.dumps(replace(found, functions=functions)), encoding="utf-8")
    return str(file)


def out_of_line(model: Path, board: str, file: Path) -> str:
    """The same with all kernels out of line."""
    return changed(model, board, file, lambda choice: replace(choice, form=SHARED))
