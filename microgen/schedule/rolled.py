"""What functions that compute row by row cost: each kernel's cost for its band, times the calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from microgen.codegens.base import Region
from microgen.ir.graph import Graph
from microgen.kernels.cost import Cost
from microgen.kernels.fitting import fitting
from microgen.passes.rolling import bands
from microgen.schedule.options import Option, measured
from microgen.target.cpu import Cpu


def options(region: Region, graph: Graph, cpu: Cpu) -> Iterator[Option]:
    """An option for each choice of a region with rows, without a cost if it was not measured."""
    group = bands.of(region.nodes, graph, [choice.rows for choice in region.choices])
    for choice in region.choices:
        (node,) = choice.nodes
        band, timing = group.bands[node.outputs[0]], group.geometry.timings[node.outputs[0]]
        found = fitting(band.node, band.graph, cpu)
        kernel = found.named(choice.symbol)
        assert kernel is not None, "it was checked"
        forms = measured((band.node,), kernel, found, band.graph, cpu)
        unknown = Option((band.node,), kernel, choice.is_shared, None, band.graph)
        one = next((form for form in forms if form.is_shared == choice.is_shared), unknown)
        yield replace(one, cost=_times(one.cost, timing.count))


def _times(cost: Cost | None, count: int) -> Cost | None:
    if cost is None:
        return None
    return replace(cost, instructions=cost.instructions * count, cycles=cost.cycles * count)
