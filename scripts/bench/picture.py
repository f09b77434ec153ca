"""The picture of a network: cores, layers and peers as bars, in SVG."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scripts.bench.results import Layer
from scripts.bench.tables import Tables, size

WIDTH, LEFT, BAR, ROW = 940, 265, 430, 20  # of the picture, of labels, of the longest bar; heights
_TOP, _GAP = 30, 26
_CUT = 6  # bars of cores and peers that exceed the median by this factor are cut off
# Paul Tol's "muted" scheme, readable for the colour-blind, on white and on black.
COLOURS = {
    "conv2d": "#4477aa",
    "depthwise": "#44aa99",
    "dense": "#ddaa33",
    "add": "#cc6677",
    "pool": "#aa4499",
    "softmax": "#999933",
    "other": "#8899a6",
}


@dataclass(frozen=True)
class Segment:
    """A part of a bar, in pixels from the bar's start; ``about`` is shown under the pointer."""

    x: float
    width: float
    colour: str
    about: str


@dataclass(frozen=True)
class Bar:
    """A row: a label, its segments, and the text after them. ``cut``: it is longer than shown."""

    y: int
    label: str
    segments: tuple[Segment, ...]
    text: str
    cut: bool = False

    @property
    def end(self) -> float:
        """Pixels from the bar's start to its end."""
        return max((s.x + s.width for s in self.segments), default=0.0)


@dataclass(frozen=True)
class Panel:
    """A heading and bars."""

    y: int
    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class _Row:
    """A bar before it has a place: ``parts`` are (kind, amount)."""

    label: str
    parts: tuple[tuple[str, float], ...]
    text: str

    @property
    def amount(self) -> float:
        return sum(amount for _, amount in self.parts)


def panels(tables: Tables, network: str) -> list[Panel]:
    """The panels of a network's picture, from top to bottom."""
    made: list[Panel] = []
    y = _TOP + _GAP  # after the legend
    shown = tables.matrix.boards[tables.matrix.shown.board].core
    for title, rows, cuts in (
        ("Modelled cycles of one inference, by core and operator", _cores(tables, network), True),
        (f"Cycles on {shown}, layer by layer", _layers(tables, network), False),
        (f"Instructions on {shown}, and those of others", _peers(tables, network), True),
    ):
        if rows:
            made.append(Panel(y, title, tuple(_bars(rows, y + _GAP, cuts=cuts))))
            y += 2 * _GAP + ROW * len(rows)
    return made


def height(made: Sequence[Panel]) -> int:
    """The height of the picture, in pixels."""
    return max((bar.y for panel in made for bar in panel.bars), default=_TOP) + 2 * ROW


def kinds(tables: Tables, network: str) -> list[tuple[str, str, int]]:
    """The legend: each kind of operator in the network, its colour, and its place in pixels."""
    there = {kind for row in _cores(tables, network) for kind, _ in row.parts}
    return [
        (kind, COLOURS[kind], 20 + 145 * place)
        for place, kind in enumerate(kind for kind in COLOURS if kind in there)
    ]


def _bars(rows: Sequence[_Row], y: int, *, cuts: bool) -> Iterator[Bar]:
    amounts = [row.amount for row in rows]
    limit = _CUT * statistics.median(amounts) if cuts else max(amounts)
    # One slow core would otherwise shrink all other bars to lines.
    most = max(amount for amount in amounts if amount <= limit)
    for number, row in enumerate(rows):
        scale = BAR / max(most, row.amount)
        segments = tuple(_segments(row, scale))
        yield Bar(y + ROW * number, row.label, segments, row.text, row.amount > most)


def _segments(row: _Row, scale: float) -> Iterator[Segment]:
    x = 0.0
    for kind, amount in row.parts:
        yield Segment(x, amount * scale, COLOURS[kind], f"{amount:,.0f}")
        x += amount * scale


def _kind(op: str) -> str:
    """The kind of an operator, for its colour."""
    name = _short_op(op).removesuffix("_hybrid")
    name = "pool" if "_pool" in name or name == "mean" else name
    return name if name in COLOURS else "other"


def _short_op(op: str) -> str:
    return op.removeprefix("nn.").replace("depthwise_conv2d", "depthwise")


def _cores(tables: Tables, network: str) -> list[_Row]:
    rows = []
    for board in tables.matrix.cores:
        found = tables.result(network, board)
        if found and found.figures:
            sums: Counter[str] = Counter()
            for layer in tables.results.layers(found):
                sums[_kind(layer.op)] += layer.cycles
            sums["other"] += max(0, found.figures.cycles - sum(sums.values()))
            parts = tuple((kind, float(sums[kind])) for kind in COLOURS if sums[kind])
            cycles, macs = found.figures.cycles, tables.results.networks[network].macs
            each = f", {cycles / macs:.2f} per MAC" if macs else ""
            rows.append(_Row(tables.matrix.boards[board].core, parts, f"{_short(cycles)}{each}"))
    return rows


def _layers(tables: Tables, network: str) -> list[_Row]:
    found = tables.result(network, tables.matrix.shown.board)
    if found is None or found.figures is None:
        return []
    return [
        _Row(
            f"{number} {_short_op(layer.op)} {size(layer.shape)}",
            ((_kind(layer.op), float(layer.cycles)),),
            f"{_short(layer.cycles)}, {_each(layer)}",
        )
        for number, layer in enumerate(tables.results.layers(found), 1)
    ]


def _each(layer: Layer) -> str:
    unit, name = (layer.macs, "MAC") if layer.macs else (layer.elements, "element")
    return f"{layer.cycles / max(unit, 1):.2f} per {name}"


def _peers(tables: Tables, network: str) -> list[_Row]:
    board = tables.matrix.shown.board
    ours = tables.figure("instructions", network, board)
    theirs = tables.peers.with_figure("instructions", network, board)
    if not ours or not theirs:
        return []
    rows = [_Row("microgen", (("conv2d", float(ours)),), _short(ours))]
    for peer, count in theirs.items():
        text = f"{_short(count)}, microgen takes {ours / count:.2f} of it"
        rows.append(_Row(tables.peers.peers[peer].title, (("other", float(count)),), text))
    return rows


def _short(number: float) -> str:
    return f"{number / 1e6:.2f} M" if number >= 1e5 else f"{number / 1e3:.1f} k"
