"""The measured combinations of network, board and ``--optimize``: ``matrix.yml``."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from microgen.base.errors import UsageError
from microgen.base.formats.structuring import structure
from microgen.options import OPTIMIZE
from microgen.running.timing import Flash

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("matrix.yml")


@dataclass(frozen=True)
class Network:
    """A model's file, its kind ("int8", "float32" or "hybrid"), and the network's task."""

    file: str
    kind: str
    title: str

    @property
    def path(self) -> Path:
        """The path where the file should be: see ``matrix.yml``."""
        if "/" in self.file:
            return ROOT / self.file
        return models_folder() / self.file


@dataclass(frozen=True)
class Board:
    """A board. ``core`` is its heading in tables. If it ``runs_on`` another board, it is that board
    with this clock in Hz and these wait states of flash. They are the values of ``device``, which
    also names their source. ``flash`` replaces the flash of the core's timings."""

    core: str
    runs_on: str = ""
    clock_hz: int = 0
    flash_wait_states: int = 0
    device: str = ""
    flash: Flash | None = None


@dataclass(frozen=True)
class Combination:
    """The names of one measurement's network, board and goal."""

    network: str
    board: str
    optimize: str

    def __str__(self) -> str:
        return f"{self.network} {self.board} {self.optimize}"


@dataclass(frozen=True)
class Block:
    """Every combination of these names is measured."""

    networks: tuple[str, ...]
    boards: tuple[str, ...]
    optimize: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """The board and ``--optimize`` of pictures and of tables of layers."""

    board: str
    optimize: str


@dataclass(frozen=True)
class Matrix:
    """The whole of ``matrix.yml``."""

    networks: dict[str, Network]
    boards: dict[str, Board]
    measured: tuple[Block, ...]
    shown: Shown

    @property
    def cores(self) -> list[str]:
        """The boards that are not another with a clock and wait states."""
        return [name for name, board in self.boards.items() if not board.runs_on]

    def combinations(self) -> list[Combination]:
        """Every combination that is measured, in the order of the networks, boards and options."""
        found = {
            Combination(*names)
            for block in self.measured
            for names in itertools.product(block.networks, block.boards, block.optimize)
        }
        orders = (list(self.networks), list(self.boards), list(OPTIMIZE))
        return sorted(
            found,
            key=lambda c: tuple(
                order.index(name)
                for order, name in zip(orders, (c.network, c.board, c.optimize), strict=True)
            ),
        )

    def select(
        self, networks: Sequence[str], boards: Sequence[str], optimize: Sequence[str]
    ) -> list[Combination]:
        """The combinations with these names; no names of a kind mean all. Raises UsageError for a
        name that is not in the matrix, or if nothing is left."""
        _check_known("--network", networks, self.networks)
        _check_known("--board", boards, self.boards)
        _check_known("--optimize", optimize, OPTIMIZE)
        found = [
            c
            for c in self.combinations()
            if c.network in (networks or self.networks)
            and c.board in (boards or self.boards)
            and c.optimize in (optimize or OPTIMIZE)
        ]
        if not found:
            raise UsageError(
                f"{FILE.name} has no combination of these",
                where="--network, --board, --optimize",
                hint="add it to its list `measured`",
            )
        return found


def load(path: Path = FILE) -> Matrix:
    """The matrix. Raises ValueError if a field or a name is wrong."""
    matrix = structure(yaml.safe_load(path.read_text(encoding="utf-8")), Matrix)
    for block in matrix.measured:
        given = [*block.networks, *block.boards, *block.optimize]
        known = {*matrix.networks, *matrix.boards, *OPTIMIZE}
        if unknown := sorted(set(given) - known):
            raise ValueError(f"{path.name}: unknown names: {', '.join(unknown)}")
    return matrix


def models_folder() -> Path:
    """The folder of the networks that are not in the checkout."""
    return Path(os.environ.get("MICROGEN_MODELS") or ROOT.parent / "shared" / "models")


def _check_known(flag: str, names: Sequence[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"{name!r} is not one of {', '.join(known)}", where=flag)
