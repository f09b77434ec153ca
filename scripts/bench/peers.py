"""What others take, and the floors: ``peers.yml``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from microgen.formats.structuring import structure
from scripts.bench.results import FIGURES

FILE = Path(__file__).with_name("peers.yml")
QUANTITIES = (*FIGURES, "instructions_o3")


@dataclass(frozen=True)
class Peer:
    """Somebody else's figures: by quantity, by network, by board. ``source`` names the code or the
    publication, ``measured`` how, ``note`` says how far outputs are from LiteRT's."""

    title: str
    source: str
    measured: str
    figures: dict[str, dict[str, dict[str, int]]]
    note: str = ""

    def figure(self, quantity: str, network: str, board: str) -> int | None:
        """A figure; of instructions the smaller one of -O2 and -O3."""
        names = (quantity, "instructions_o3") if quantity == "instructions" else (quantity,)
        known = [self.figures.get(name, {}).get(network, {}).get(board) for name in names]
        return min((value for value in known if value), default=None)


@dataclass(frozen=True)
class Floor:
    """Instructions per multiply-accumulate at the least, of a kind of network on boards: those of
    the ``products`` alone, and of a ``loop`` with its loads (0: unknown). ``why`` derives them."""

    boards: tuple[str, ...]
    kind: str
    products: float
    why: str
    loop: float = 0.0

    @property
    def least(self) -> float:
        """The larger bound of the two."""
        return max(self.products, self.loop)


@dataclass(frozen=True)
class Peers:
    """The whole of ``peers.yml``."""

    peers: dict[str, Peer]
    floors: tuple[Floor, ...]

    def with_figure(self, quantity: str, network: str, board: str) -> dict[str, int]:
        """The peers that have a figure, by name, the smallest first."""
        known = {name: p.figure(quantity, network, board) for name, p in self.peers.items()}
        there = {name: value for name, value in known.items() if value}
        return dict(sorted(there.items(), key=lambda item: item[1]))

    def floor(self, kind: str, board: str) -> Floor | None:
        """The floor of a kind of network on a board, if there is one."""
        return next((f for f in self.floors if f.kind == kind and board in f.boards), None)


def load(path: Path = FILE) -> Peers:
    """The data. Raises ValueError if a field is wrong, or a quantity unknown."""
    found = structure(yaml.safe_load(path.read_text(encoding="utf-8")), Peers)
    for name, peer in found.peers.items():
        if unknown := sorted(set(peer.figures).difference(QUANTITIES)):
            raise ValueError(f"{path.name}: {name} has unknown quantities: {', '.join(unknown)}")
    return found
