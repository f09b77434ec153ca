"""Where the parts of assembled concatenations are computed, and which call computes the last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from microgen.compiler.codegens.base import Primitive
from microgen.compiler.partition import Partition
from microgen.compiler.passes.views import roots
from microgen.graph.ir.graph import Graph, Node
from microgen.planner.program.steps import Around, NotStored, Place, Step

KERNEL = "in place"  # the kernel of an assembled concatenation in reports


@dataclass(frozen=True, slots=True)
class Placed:
    """The place of a part: ``offset`` bytes after the beginning of the tensor ``result``."""

    result: str
    offset: int


@dataclass(frozen=True, slots=True)
class AssembledRegions:
    """``places``: part -> its place. ``dropped``: the numbers of the regions that have nothing left
    to do. ``steps``: the steps of these, by the number of the region that computes the last part.
    """

    places: Mapping[str, Placed] = field(default_factory=dict)
    dropped: frozenset[int] = frozenset()
    steps: Mapping[int, tuple[Step, ...]] = field(default_factory=dict)


def of(partition: Partition, primitives: Sequence[Primitive]) -> AssembledRegions:
    """The places of all parts of concatenations. ``partition`` has their copies
    (``assembly.with_copies``), and ``primitives`` has a function for each of its regions."""
    dropped = [i for i, region in enumerate(partition.regions) if region.is_assembled]
    graph, bytes_of = partition.graph, roots(partition.graph)
    parts = {i: tuple(_parts(partition.regions[i].main, graph, bytes_of)) for i in dropped}
    places: dict[str, Placed] = {}
    for i in reversed(dropped):  # a result that is a part itself is placed before its own parts
        result = partition.regions[i].main.outputs[0]
        outer = places.get(result, Placed(result, 0))
        for part, offset in parts[i]:
            places[part] = Placed(outer.result, outer.offset + offset)
    return AssembledRegions(places, frozenset(dropped), _steps(partition, primitives, parts))


def _parts(node: Node, graph: Graph, bytes_of: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The tensors whose bytes are a concatenation's parts, with their offsets."""
    offset = 0
    for name in node.inputs:
        yield bytes_of[name], offset
        offset += graph.types[name].nbytes


def _steps(
    partition: Partition,
    primitives: Sequence[Primitive],
    parts: Mapping[int, Sequence[tuple[str, int]]],
) -> dict[int, tuple[Step, ...]]:
    """The steps of the regions that are dropped, by the region that computes the last part."""
    # Tensor -> the region that computes it or its last part, the name of that part, and its offset.
    last = {name: (i, name, 0) for i, p in enumerate(primitives) for name in p.outputs}
    steps: dict[int, tuple[Step, ...]] = {}
    for i, own in parts.items():
        ways = ((last[part], offset) for part, offset in own)
        # Regions are numbered in execution order, so the greatest number computes the last part.
        region, part, before = max((at, name, more + offset) for (at, name, more), offset in ways)
        last[partition.regions[i].main.outputs[0]] = region, part, before
        place: Place = Around(primitives[region].outputs.index(part), before)
        if partition.regions[region].is_rolled:
            place = NotStored("its last part is computed row by row, and compared there")
        (step,) = primitives[i].steps
        steps[region] = (*steps.get(region, ()), replace(step, kernel=KERNEL, place=place))
    return steps
