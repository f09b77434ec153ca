"""The errors of modelled cycles, compared with published ones: ``docs/cycle_error.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from microgen.base.formats.structuring import structure
from scripts.bench.matrix import ROOT, Matrix
from scripts.bench.peers import Peers
from scripts.bench.tables import markdown

NAME = "cycle_error.json"
FILE = ROOT / "docs" / NAME
# The peers whose programs are kernels of CMSIS-NN, so that we can build them.
REBUILT = ("microtvm_published", "tigris_tflm")


@dataclass(frozen=True)
class Record:
    """A published number of cycles, of a network on a board of the matrix."""

    network: str
    board: str
    published: int


@dataclass(frozen=True)
class Row:
    """A record's program as we build it: instructions, and modelled cycles."""

    network: str
    board: str
    instructions: int
    cycles: int


@dataclass(frozen=True)
class Errors:
    """All rows, with the records that they are compared with."""

    rows: tuple[Row, ...]
    records: tuple[Record, ...]
    matrix: Matrix

    @cached_property
    def each(self) -> list[float]:
        """The relative error of our cycles for each row; positive if ours are more than the
        published ones."""
        known = {(r.network, r.board): r.published for r in self.records}
        return [row.cycles / known[row.network, row.board] - 1 for row in self.rows]

    @property
    def count(self) -> int:
        """The number of comparisons."""
        return len(self.each)

    @property
    def span(self) -> str:
        """The range of the errors, in words."""
        return f"between {_words(min(self.each))} and {_words(max(self.each))}"

    @property
    def cores(self) -> str:
        """The cores that have rows, in words."""
        *most, last = dict.fromkeys(self.matrix.boards[r.board].core.split()[0] for r in self.rows)
        return f"Cortex-{', '.join(most)} and {last}" if most else f"Cortex-{last}"

    def table(self) -> str:
        """The table of docs/explanation/timing.md."""
        heads = ("instructions", "modelled cycles", "published", "difference")
        known = {(r.network, r.board): r.published for r in self.records}
        rows = [
            (
                row.network,
                self.matrix.boards[row.board].core,
                *_millions(row.instructions, row.cycles, known[row.network, row.board]),
                f"{100 * error:+.1f} %",
            )
            for row, error in zip(self.rows, self.each, strict=True)
        ]
        return markdown(("network", "device", *heads), rows, 2)


def records(peers: Peers, matrix: Matrix) -> tuple[Record, ...]:
    """The records whose programs we can build, of boards of the matrix."""
    return tuple(
        Record(network, board, published)
        for name in REBUILT
        for board in matrix.boards
        for network in matrix.networks
        if (published := peers.peers[name].figure("cycles", network, board))
    )


def load(peers: Peers, matrix: Matrix, path: Path = FILE) -> Errors:
    """The committed rows. Raises ValueError if the rows do not belong to the records."""
    found = structure(json.loads(path.read_text(encoding="utf-8")), list[Row])
    known = records(peers, matrix)
    if [(r.network, r.board) for r in found] != [(r.network, r.board) for r in known]:
        raise ValueError(f"{path.name}: its rows are of other records: run scripts.cycle_error")
    return Errors(tuple(found), known, matrix)


def text(rows: Sequence[Row]) -> str:
    """The file: a line for each row."""
    return "[\n" + ",\n".join(f" {json.dumps(asdict(row))}" for row in rows) + "\n]\n"


def _millions(*numbers: int) -> list[str]:
    return [f"{number / 1e6:.3f}" for number in numbers]


def _words(error: float) -> str:
    return f"{abs(100 * error):.1f} % {'below' if error < 0 else 'above'}"
