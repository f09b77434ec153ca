"""The tables of the pages, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scripts.bench.matrix import Combination, Matrix
from scripts.bench.peers import Peers
from scripts.bench.results import FIGURES, Result, Results

HEADINGS = {
    "instructions": "instructions",
    "cycles": "cycles",
    "arena_io": "arena + I/O",
    "ram": "RAM total",
    "stack": "stack",
    "code": "code",
    "weights": "weights",
}
MILLIONS = ("instructions", "cycles")


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]], text: int = 1) -> str:
    """A table whose columns are aligned right, except the first ``text`` ones."""
    marks = ["---"] * text + ["---:"] * (len(heads) - text)
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, marks, *rows))


def value(quantity: str, number: float | None) -> str:
    """A number: instructions and cycles in millions, bytes as they are."""
    if number is None:
        return ""
    return f"{number / 1e6:.3f}" if quantity in MILLIONS else f"{number:,}"


def size(shape: Sequence[int]) -> str:
    """A shape without the axes of one element at its start."""
    lengths = list(shape)
    while len(lengths) > 1 and lengths[0] == 1:
        del lengths[0]
    return "x".join(map(str, lengths)) or "1"


@dataclass(frozen=True)
class Tables:
    """The data for all tables."""

    results: Results
    matrix: Matrix
    peers: Peers

    def result(self, network: str, board: str) -> Result | None:
        """The result with the ``--optimize`` that is shown."""
        asked = Combination(network, board, self.matrix.shown.optimize)
        return self.results.by_combination.get(asked)

    def figure(self, quantity: str, network: str, board: str) -> int | None:
        """A figure of that result."""
        found = self.result(network, board)
        return getattr(found.figures, quantity) if found and found.figures else None

    def network(self, name: str) -> str:
        """A link to a network's page."""
        return f"[{name}](benchmarks/{name}.md)"

    def boards(self) -> str:
        """The boards: cores, clocks and wait states."""
        rows = [
            (
                self.matrix.boards[name].core,
                f"`{name}`",
                f"{board.core}{' (fitted)' if board.fitted else ''}",
                f"{board.clock_hz / 1e6:g} MHz" if board.clock_hz else "not known",
                str(board.flash_wait_states),
            )
            for name, board in self.results.boards.items()
        ]
        heads = ("here", "board", "timings of", "clock", "wait states of flash")
        return markdown(heads, rows, 4)

    def overview(self, quantity: str) -> str:
        """A quantity of every network on every core."""
        cores = self.matrix.cores
        rows = [
            (
                self.network(name),
                f"{one.macs / 1e6:.3f}",
                *(self._cell(quantity, name, c) for c in cores),
            )
            for name, one in self.results.networks.items()
        ]
        return markdown(("network", "MACs", *(self.matrix.boards[c].core for c in cores)), rows)

    def _cell(self, quantity: str, network: str, board: str) -> str:
        found = self.result(network, board)
        if found is None:
            return "not measured"
        return (
            value(quantity, getattr(found.figures, quantity)) if found.figures else "does not fit"
        )

    def memory(self, board: str) -> str:
        """The bytes of every network on a board."""
        names = [name for name in FIGURES if name not in MILLIONS]
        rows = []
        for network in self.results.networks:
            found = self.result(network, board)
            if found and found.figures:
                numbers = [getattr(found.figures, name) for name in names]
                numbers.insert(1, found.arena_bound)
                rows.append((self.network(network), *(f"{n:,}" for n in numbers)))
        heads = [HEADINGS[name] for name in names]
        return markdown(("network", heads[0], "its lower bound", *heads[1:]), rows)

    def times(self) -> str:
        """The range of CPU seconds of each network over all boards."""
        rows = []
        for network in self.results.networks:
            found = [r for r in self.results.results if r.network == network and r.figures]
            built = [r for r in found if not r.same_as]
            rows.append(
                (
                    self.network(network),
                    _range(r.generate_s for r in found),
                    _range(r.build_s for r in built),
                )
            )
        return markdown(("network", "generate", "build"), rows)


def _range(numbers: Iterable[float]) -> str:
    known = sorted(numbers)
    if not known:
        return ""
    least, most = f"{known[0]:.2f}", f"{known[-1]:.2f}"
    return least if least == most else f"{least} to {most}"
