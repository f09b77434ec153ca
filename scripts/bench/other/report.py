"""The tables: how we compare with the peer, by kind of network and by kind of layer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scripts.bench.other.measuring import BOARDS, MORE_BOARDS, SAME_PEER, Found
from scripts.bench.other.peer import Peer
from scripts.bench.other.stored import Core, Stored
from scripts.bench.tables import markdown

TOLERANCE = 20  # thousandths
KINDS = ("int8", "float32", "int16")


@dataclass(frozen=True)
class Compared:
    """What was found of a network on a core, with the committed figures."""

    found: Found
    core: Core

    @property
    def core_name(self) -> str:
        """The core that it ran on."""
        return self.found.asked.core

    @property
    def name(self) -> str:
        """The network, and the core."""
        return f"{self.found.asked.name} on {self.core_name}"

    @property
    def ratio(self) -> float:
        """Our instructions over the peer's."""
        assert self.core.peer is not None
        return self.found.instructions / self.core.peer.instructions

    @property
    def error(self) -> float | None:
        """How far the estimated cycles are from the modelled ones, or None if there are none."""
        if not self.found.estimated:
            return None
        return self.found.estimated / self.found.cycles - 1

    @property
    def change(self) -> float:
        """How much more instructions than when ours were committed; 0 if they were not."""
        if self.core.ours is None:
            return 0.0
        return self.found.instructions / self.core.ours.instructions - 1

    @property
    def is_worse(self) -> bool:
        """Whether it takes more than ``TOLERANCE`` more instructions than committed, or bytes."""
        ours = self.core.ours
        if ours is None:
            return False
        pairs = (
            (ours.instructions, self.found.instructions),
            (ours.arena, self.found.arena),
            (ours.balanced, self.found.balanced),
        )
        return any(1000 * (now - before) > TOLERANCE * before for before, now in pairs)


def compared(found: Iterable[Found], stored: Mapping[str, Stored]) -> list[Compared]:
    """All that was measured and that has figures of the peer of the same file."""
    rows = []
    for one in found:
        known = stored.get(one.asked.name)
        core = _core(known, one.asked.core) if known else Core()
        if one.missing or one.failed or known is None or core.peer is None:
            continue
        if known.sha256 in ("", one.sha256):
            rows.append(Compared(one, core))
    return rows


def _core(known: Stored, name: str) -> Core:
    """A network's figures on a core; the peer's may be those of another core."""
    core = known.cores.get(name, Core())
    if core.peer is None and name in SAME_PEER:
        core = replace(core, peer=_core(known, SAME_PEER[name]).peer)
    return core


def summary(rows: Sequence[Compared]) -> str:
    """The geometric mean and the worst ratio of each kind of networks and core, how many are over
    0.6 and over 1, and RAM beside the peer's."""
    lines = []
    cores = [name for name in (*BOARDS, *MORE_BOARDS) if any(r.core_name == name for r in rows)]
    for kind in KINDS:
        own = [row for row in rows if row.found.asked.kind == kind]
        if own:
            count = len({row.found.asked.name for row in own})
            lines.append((kind, str(count), *(_cell(own, core) for core in cores), *_rams(own)))
    rams = ("arena + I/O, M4", "of the head", "with --workspace-io")
    heads = ("networks", "", *cores, *rams)
    return markdown(heads, lines)


def _cell(rows: Sequence[Compared], core: str) -> str:
    ratios = {row.found.asked.name: row.ratio for row in rows if row.core_name == core}
    if not ratios:
        return ""
    worst = max(ratios, key=lambda name: ratios[name])
    over = [sum(ratio > limit for ratio in ratios.values()) for limit in (0.6, 1)]
    mean = geometric(ratios.values())
    return f"{mean:.3f} ({ratios[worst]:.2f} {worst}), {over[0]} / {over[1]}"


def _rams(rows: Sequence[Compared]) -> Iterator[str]:
    """The bytes at ``balanced`` over the peer's: those of its whole arena, and of the head alone;
    and as the peer counts, whose inputs and outputs are in its arena, over those of the head."""
    core = [(row.found, row.core.peer) for row in rows if row.core_name == "M4"]
    known = [(found, peer) for found, peer in core if peer]
    yield _ram(found.balanced / peer.whole for found, peer in known if peer.whole)
    yield _ram(found.balanced / peer.arena for found, peer in known if peer.arena)
    yield _ram(found.shared / peer.arena for found, peer in known if peer.arena and found.shared)


def _ram(numbers: Iterable[float]) -> str:
    ratios = list(numbers)
    if not ratios:
        return "not known"
    over = sum(ratio > 1 for ratio in ratios)
    return f"{geometric(ratios):.2f} ({max(ratios):.2f}), {over} over 1"


def geometric(numbers: Iterable[float]) -> float:
    """The geometric mean."""
    every = [math.log(number) for number in numbers]
    return math.exp(sum(every) / len(every))


def networks(rows: Sequence[Compared]) -> str:
    """Every network and core: the worst first."""
    lines = []
    for row in sorted(rows, key=lambda row: -row.ratio):
        ours, peer = row.found, row.core.peer
        assert peer is not None
        error = row.error
        lines.append(
            (
                *(ours.asked.name, ours.asked.core, ours.asked.kind),
                *(f"{ours.instructions:,}", f"{peer.instructions:,}", f"{row.ratio:.2f}"),
                *(f"{ours.arena:,}", f"{ours.balanced:,}"),
                f"{peer.arena:,}" if peer.arena else "",
                "" if error is None else f"{100 * error:+.1f} %",
                f"{peer.whole:,}" if peer.whole else "",
            )
        )
    heads = ("network", "core", "kind", "ours", "the peer's", "ratio", "arena, speed", "balanced")
    return markdown((*heads, "the peer's", "estimated cycles", "the peer's whole arena"), lines, 3)


def layers(rows: Sequence[Compared]) -> str:
    """Instructions for each multiply-accumulate or element by kind of network, core and layer: the
    worst first."""
    lines = []
    for (kind, core, layer), (units, ours, theirs, worst) in _sums(rows).items():
        ratio = ours / theirs if theirs else math.inf
        name, most = worst
        cells = (f"{ours / units:.2f}", f"{theirs / units:.2f}", f"{ratio:.2f}", f"{ours:,}")
        lines.append((ratio, (layer, kind, core, *cells, f"{name} {most:.2f}")))
    ordered = [cells for _, cells in sorted(lines, key=lambda line: -line[0])]
    heads = ("layers", "kind", "core", "ours each", "the peer's", "ratio", "ours")
    return markdown((*heads, "worst"), ordered, 3)


Sums = tuple[int, int, int, tuple[str, float]]


def _sums(rows: Sequence[Compared]) -> dict[tuple[str, str, str], Sums]:
    """Units, our instructions and the peer's, and the worst network with its ratio."""
    found: dict[tuple[str, str, str], list[tuple[str, int, int, int]]] = defaultdict(list)
    for row in rows:
        peer, asked = row.core.peer, row.found.asked
        assert peer is not None
        for layer, mine, theirs in _both(row.found, peer):
            found[asked.kind, asked.core, layer].append((asked.name, *mine, theirs))
    sums: dict[tuple[str, str, str], Sums] = {}
    for key, parts in found.items():
        units, ours = sum(part[1] for part in parts), sum(part[2] for part in parts)
        theirs = sum(part[3] for part in parts)
        worst = max(((name, o / max(1, t)) for name, _, o, t in parts), key=lambda one: one[1])
        sums[key] = (max(1, units), ours, theirs, worst)
    return sums


def _both(found: Found, peer: Peer) -> Iterator[tuple[str, tuple[int, int], int]]:
    """Kinds of layers that both programs have, with our units and instructions, and the peer's.
    What one of them computes in another call, or not at all, has no ratio."""
    for layer, mine in found.layers.items():
        if layer in peer.layers and mine[0]:
            yield layer, mine, peer.layers[layer][1]
