"""Figures of other programs, and the floors: ``peers.yml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from microgen.base.formats.structuring import structure
from scripts.bench.results import FIGURES

FILE = Path(__file__).with_name("peers.yml")
QUANTITIES = (*FIGURES, "instructions_o3")


@dataclass(frozen=True)
class Peer:
    """Somebody else's figures: by quantity, by network, by board. ``source`` names the code or the
    publication, ``measured`` how, ``note`` says how much the outputs differ from LiteRT's.
    ``whose`` names the holder of each figure of cycles, by network and board, if there are several
    holders."""

    title: str
    source: str
    measured: str
    figures: dict[str, dict[str, dict[str, int]]]
    note: str = ""
    whose: dict[str, dict[str, str]] = field(default_factory=dict)

    def figure(self, quantity: str, network: str, board: str) -> int | None:
        """A figure; of instructions the smaller one of -O2 and -O3."""
        names = (quantity, "instructions_o3") if quantity == "instructions" else (quantity,)
        known = [self.figures.get(name, {}).get(network, {}).get(board) for name in names]
        return min((value for value in known if value), default=None)


@dataclass(frozen=True)
class Floor:
    """The least instructions per multiply-accumulate of a kind of network on boards: for the
    ``products`` alone, and for a ``loop`` with its loads (0: unknown). ``why`` derives them."""

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
class Device:
    """A device with published cycles but without measurements here, and the reason why there is no
    ratio to ours."""

    title: str
    why: str


@dataclass(frozen=True)
class Pipeline:
    """A published whole pipeline of the streaming wake word: of sound, not of the network alone."""

    device: str
    cycles: int
    whose: str


@dataclass(frozen=True)
class Peers:
    """The whole of ``peers.yml``. ``devices`` are by the names that figures have them under."""

    peers: dict[str, Peer]
    floors: tuple[Floor, ...]
    devices: dict[str, Device]
    pipelines: tuple[Pipeline, ...]

    def with_figure(self, quantity: str, network: str, board: str) -> dict[str, int]:
        """The peers that have a figure, by name, the smallest first."""
        known = {name: p.figure(quantity, network, board) for name, p in self.peers.items()}
        there = {name: value for name, value in known.items() if value}
        return dict(sorted(there.items(), key=lambda item: item[1]))

    def floor(self, kind: str, board: str) -> Floor | None:
        """The floor of a kind of network on a board, if there is one."""
        return next((f for f in self.floors if f.kind == kind and board in f.boards), None)


def load(path: Path = FILE) -> Peers:
    """The data. Raises ValueError if a field is wrong, a quantity unknown, or ``whose`` names
    holders of figures other than cycles."""
    found = structure(yaml.safe_load(path.read_text(encoding="utf-8")), Peers)
    for name, peer in found.peers.items():
        if unknown := sorted(set(peer.figures).difference(QUANTITIES)):
            raise ValueError(f"{path.name}: {name} has unknown quantities: {', '.join(unknown)}")
        if peer.whose and _places(peer.whose) != _places(peer.figures.get("cycles", {})):
            raise ValueError(f"{path.name}: {name}: `whose` must name the holder of each figure")
    return found


def _places(by_network: Mapping[str, Mapping[str, object]]) -> set[tuple[str, str]]:
    return {(network, board) for network, boards in by_network.items() for board in boards}
