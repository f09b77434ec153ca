"""The measured tables as files of this checkout, and the boards on which cores are measured."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from microgen.base import resources
from microgen.kernels import cost, measured, registry
from microgen.kernels.base import Implementation
from microgen.kernels.measured import MeasuredTable, Rows
from microgen.target import board as boards
from microgen.target import found, projects, standing
from microgen.target.board import Board
from microgen.target.cpu import CPUS

CHECKOUT = Path(__file__).resolve().parents[2]
_LITTLE = 1 << 16  # bytes of RAM


def read(name: str) -> MeasuredTable:
    """The table as the file is now."""
    return measured.loads((measured.FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def put(name: str, column: str, numbers: Rows) -> None:
    """Replaces the numbers of a table's column, which may be new."""
    table = read(name)
    if not numbers and column not in table.columns:
        return
    path = measured.FOLDER / f"{name}.json"
    # Other processes may be reading it.
    written = path.with_suffix(".new")
    written.write_text(measured.dumps(table.replaced(column, numbers)), encoding="ascii")
    written.replace(path)
    # Both have kept the file's earlier contents.
    measured.load.cache_clear()
    cost.table.cache_clear()


def kernels() -> Iterator[Implementation]:
    """All kernels."""
    for each in registry().values():
        yield from each


def board(core: str) -> Board:
    """The board on which a core is measured: the first board with the core. Boards that QEMU
    emulates come first, then boards with larger RAM, then the names decide. If no board has the
    core, it is the nearest core's board with this core instead."""
    place = _place(core)
    return found.at(place) if place else _own(core)[0]


def given(core: str) -> AbstractContextManager[None]:
    """In the block, projects may be for the core's board, even if no board has the core."""
    return projects.given(_place(core))


@functools.cache
def _own(core: str) -> list[Board]:
    every = (boards.load(name) for name in boards.available())
    own = (each for each in every if each.cpu.name == core and not each.is_host)
    return sorted(own, key=_order)


def _order(one: Board) -> tuple[Any, ...]:
    return one.qemu is None, -one.memory(one.ram).length, one.name


@functools.cache
def _place(core: str) -> Path | None:
    """The folder of a board with the core, which is made if no board has it."""
    if _own(core):
        return None
    stands = standing.core(CPUS[core], [name for name in CPUS if _own(name)])
    if stands is None:
        raise ValueError(f"no board has a core like {core}")
    original = resources.folder("boards") / _own(stands.name)[0].name / "board.yml"
    folder = Path(_scratch().name) / core.replace("-", "_").replace(".", "_")
    folder.mkdir()
    text = original.read_text(encoding="utf-8")
    other = text.replace(f"\ncpu: {stands.name}\n", f"\ncpu: {core}\n")
    (folder / "board.yml").write_text(other, encoding="utf-8")
    return folder


@functools.cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="microgen-boards-")


def has_little_ram(core: str) -> bool:
    """Whether only small layers fit the core's board."""
    one = board(core)
    return one.memory(one.ram).length < _LITTLE
