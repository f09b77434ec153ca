"""The measured tables as files of this checkout, and the boards on which cores are measured."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from microgen.kernels import cost, measured, registry
from microgen.kernels.base import Implementation
from microgen.kernels.measured import Rows, Table
from microgen.target import board as boards
from microgen.target import standing
from microgen.target.board import Board
from microgen.target.cpu import CPUS

CHECKOUT = Path(__file__).resolve().parents[2]
_LITTLE = 1 << 16  # bytes of RAM


def read(name: str) -> Table:
    """The table as the file is now."""
    return measured.loads((measured.FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def put(name: str, column: str, numbers: Rows) -> None:
    """Puts numbers into a column of a table, which may be new, instead of those that it has."""
    table = read(name)
    if not numbers and column not in table.columns:
        return
    path = measured.FOLDER / f"{name}.json"
    # Other processes may be reading it.
    written = path.with_suffix(".new")
    written.write_text(measured.dumps(table.replaced(column, numbers)), encoding="ascii")
    written.replace(path)
    measured.load.cache_clear()
    cost.table.cache_clear()


def kernels() -> Iterator[Implementation]:
    """All kernels."""
    for found in registry().values():
        yield from found


@functools.cache
def board(core: str) -> Board:
    """The board on which a core is measured: one that has it, that QEMU emulates if there is such a
    board, and of several the one with the largest RAM, then the first by name. For a core that no
    board has, it is that of the nearest core, with the other one in its place."""
    every = [boards.load(name) for name in boards.available()]
    own = [each for each in every if each.cpu.name == core]
    if not own:
        others = (each.cpu.name for each in every if not each.is_host)
        stands = standing.core(CPUS[core], others)
        if stands is None:
            raise ValueError(f"no board has a core like {core}")
        return replace(board(stands.name), cpu=CPUS[core])
    return min(own, key=_order)


def _order(found: Board) -> tuple[Any, ...]:
    return found.qemu is None, -found.memory(found.ram).length, found.name


def has_little_ram(core: str) -> bool:
    """Whether only small layers fit the core's board."""
    found = board(core)
    return found.memory(found.ram).length < _LITTLE
