"""The tables that compare our figures with the peers' and with the floors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scripts.bench.tables import Tables, markdown, value


def compared(tables: Tables, quantity: str) -> str:
    """Ours and the peers' figures of a quantity, with our share of theirs."""
    places = [
        (network, board)
        for network in tables.results.networks
        for board in tables.matrix.boards
        if tables.peers.with_figure(quantity, network, board)
        and tables.figure(quantity, network, board)
    ]
    known = [p for p in tables.peers.peers if _compares(tables, p, quantity, places)]
    rows = [
        (
            tables.network(network),
            tables.matrix.boards[board].core,
            value(quantity, tables.figure(quantity, network, board)),
            *(_ratio(tables, peer, quantity, network, board) for peer in known),
        )
        for network, board in places
    ]
    titles = (tables.peers.peers[peer].title for peer in known)
    return markdown(("network", "core", "microgen", *titles), rows, 2)


def _compares(tables: Tables, peer: str, quantity: str, places: Sequence[tuple[str, str]]) -> bool:
    figure = tables.peers.peers[peer].figure
    return any(figure(quantity, *place) for place in places)


def _ratio(tables: Tables, peer: str, quantity: str, network: str, board: str) -> str:
    theirs = tables.peers.peers[peer].figure(quantity, network, board)
    ours = tables.figure(quantity, network, board)
    if not theirs or not ours:
        return ""
    whose = tables.peers.peers[peer].whose.get(network, {}) if quantity == "cycles" else {}
    return " ".join(
        filter(None, (value(quantity, theirs), whose.get(board), f"({ours / theirs:.2f})"))
    )


def alone(tables: Tables) -> str:
    """Published cycles on devices without measurements here, with the holders of the figures."""
    rows = [
        (
            tables.network(network),
            device.title,
            peer.whose.get(network, {}).get(name) or peer.title.removesuffix(", published"),
            value("cycles", cycles),
        )
        for network in tables.matrix.networks
        for name, device in tables.peers.devices.items()
        for peer in tables.peers.peers.values()
        if (cycles := peer.figure("cycles", network, name))
    ]
    return markdown(("network", "device", "whose", "cycles"), rows, 3)


def pipelines(tables: Tables) -> str:
    """The published whole pipelines of the streaming wake word."""
    rows = [(one.device, one.whose, value("cycles", one.cycles)) for one in tables.peers.pipelines]
    return markdown(("device", "whose", "cycles"), rows, 2)


def means(tables: Tables) -> str:
    """The geometric mean of the shares of instructions, by peer and core, of int8 networks."""
    rows = []
    for peer in tables.peers.peers:
        cells = [_mean(tables, peer, board) for board in tables.matrix.cores]
        if any(cells):
            rows.append((tables.peers.peers[peer].title, *cells))
    return markdown(("peer", *(tables.matrix.boards[c].core for c in tables.matrix.cores)), rows)


def _mean(tables: Tables, peer: str, board: str) -> str:
    ratios = []
    for network, about in tables.matrix.networks.items():
        theirs = tables.peers.peers[peer].figure("instructions", network, board)
        ours = tables.figure("instructions", network, board)
        if about.kind == "int8" and theirs and ours:
            ratios.append(ours / theirs)
    if not ratios:
        return ""
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f} ({len(ratios)})"


def floors(tables: Tables) -> str:
    """Instructions per multiply-accumulate, and how often they are the floor."""
    cores = tables.matrix.cores
    rows = [
        (tables.network(name), *(_floor(tables, name, one.macs, core) for core in cores))
        for name, one in tables.results.networks.items()
    ]
    return markdown(("network", *(tables.matrix.boards[c].core for c in cores)), rows)


def _floor(tables: Tables, network: str, macs: int, board: str) -> str:
    ours = tables.figure("instructions", network, board)
    if not ours or not macs:
        return ""
    floor = tables.peers.floor(tables.matrix.networks[network].kind, board)
    each = ours / macs
    return f"{each:.2f}" + (f" ({each / floor.least:.1f} x {floor.least:g})" if floor else "")
