"""The tables of a network's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scripts.bench.results import Layer
from scripts.bench.tables import HEADINGS, Tables, markdown, size


def everything(tables: Tables, network: str) -> str:
    """All results of a network, with the options that give the same firmware in one row."""
    rows = list(_rows(tables, network))
    per_mac = ("instructions per MAC", "cycles per MAC")
    heads = ("core", "--optimize", *per_mac, *HEADINGS.values())
    return markdown(heads, rows, 2)


def _rows(tables: Tables, network: str) -> Iterator[Sequence[str]]:
    own = [r for r in tables.results.results if r.network == network]
    macs = tables.results.networks[network].macs
    for result in (r for r in own if not r.same_as):
        same = [r.optimize for r in own if r.board == result.board and r.same_as == result.optimize]
        place = tables.matrix.boards[result.board].core, ", ".join([result.optimize, *same])
        if result.figures is None:
            yield (
                *place,
                *[""] * 2,
                f"does not fit: {result.refused.partition(' (')[0]}",
                *[""] * 6,
            )
            continue
        figures = result.figures
        each = (f"{n / macs:.2f}" for n in (figures.instructions, figures.cycles))
        yield *place, *each, *(f"{getattr(figures, name):,}" for name in HEADINGS)


def layers(tables: Tables, network: str) -> str:
    """The layers of a network: on the board that is shown, and cycles per unit on all cores."""
    shown = tables.result(network, tables.matrix.shown.board)
    if shown is None or shown.figures is None:
        return "It does not fit, or was not measured."
    cores = [c for c in tables.matrix.cores if (r := tables.result(network, c)) and r.figures]
    by_core = {core: _by_name(tables, network, core) for core in cores}
    total, rows = shown.figures.cycles, []
    for number, layer in enumerate(tables.results.layers(shown), 1):
        unit = layer.macs or layer.elements
        rows.append(
            (
                str(number),
                layer.op.removeprefix("nn."),
                size(layer.shape),
                f"`{layer.kernel}`",
                f"{layer.macs:,}" if layer.macs else f"{layer.elements:,} elements",
                f"{layer.instructions:,}",
                f"{layer.cycles:,}",
                f"{layer.cycles / total:.1%}",
                *(_per_unit(by_core[core].get((layer.name, layer.shape)), unit) for core in cores),
            )
        )
    heads = ("", "operator", "output", "kernel", "MACs", "instructions", "cycles", "share")
    return markdown((*heads, *(tables.matrix.boards[c].core for c in cores)), rows, 4)


def _by_name(tables: Tables, network: str, board: str) -> dict[tuple[str, tuple[int, ...]], Layer]:
    found = tables.result(network, board)
    layers = tables.results.layers(found) if found else ()
    return {(layer.name, layer.shape): layer for layer in layers}


def _per_unit(layer: Layer | None, unit: int) -> str:
    return f"{layer.cycles / unit:.2f}" if layer and unit else ""
