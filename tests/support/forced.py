"""Schedules that a test decides: the best one, with other implementations or forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from microgen.base.manifest.schedule import SHARED, ChoiceRecord
from microgen.compiler import schedule
from microgen.interface import api
from microgen.kernels.base import Implementation
from microgen.kernels.fitting import fitting
from microgen.options import Options
from microgen.pipeline import planning
from microgen.target import board as boards


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


def first(model: Path, board: str, file: Path, accepts: Callable[[Implementation], bool]) -> str:
    """The same with the first implementation of each node that fits and is accepted, if there is
    one."""
    found = boards.load(board)
    parts = planning.partitioned(model, found, Options()).partition
    nodes = {node.outputs[0]: node for region in parts.regions for node in region.nodes}

    def change(choice: ChoiceRecord) -> ChoiceRecord:
        if len(choice.computes) > 1:
            return choice
        fit = fitting(nodes[choice.computes[0]], parts.graph, found.cpu).kernels
        symbol = next((kernel.symbol for kernel in fit if accepts(kernel)), choice.implementation)
        return replace(choice, implementation=symbol)

    return changed(model, board, file, change)


def out_of_line(model: Path, board: str, file: Path) -> str:
    """The same with all kernels out of line."""
    return changed(model, board, file, lambda choice: replace(choice, form=SHARED))
