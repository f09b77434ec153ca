"""Where the parts of assembled concatenations are computed, and which call computes the last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from microgen.codegens.base import Choice, Primitive, Region
from microgen.codegens.selection import BUILTIN
from microgen.errors import InternalError
from microgen.ir.graph import Graph, Node, TensorType
from microgen.ops.copy import CopyAttrs
from microgen.partition import Partition
from microgen.partition.assembly import Assembly, assemblies
from microgen.passes.views import roots
from microgen.program.steps import Around, NotStored, Place, Step

KERNEL = "in place"  # what reports name as the kernel of an assembled concatenation


@dataclass(frozen=True, slots=True)
class Placed:
    """The place of a part: ``offset`` bytes after the beginning of the tensor ``result``."""

    result: str
    offset: int


@dataclass(frozen=True, slots=True)
class Assembled:
    """``places``: part -> its place. ``dropped``: the numbers of the regions that have nothing left
    to do. ``steps``: the steps of these, by the number of the region that computes the last part.
    """

    places: Mapping[str, Placed] = field(default_factory=dict)
    dropped: frozenset[int] = frozenset()
    steps: Mapping[int, tuple[Step, ...]] = field(default_factory=dict)


def with_copies(partition: Partition) -> Partition:
    """The partition with a region for each copy that the assembled concatenations need, before the
    concatenation, which reads the copy instead of the part."""
    chosen = [region for region in partition.regions if region.is_assembled]
    if not chosen:
        return partition
    found = assemblies(partition)
    types = dict(partition.graph.types)
    made: dict[str, list[Node]] = {}
    for region in chosen:
        result = region.main.outputs[0]
        if result not in found:
            raise InternalError("cannot be assembled", where=result)
        made[result] = _nodes(found[result], types)
    nodes = [one for node in partition.graph.nodes for one in made.get(node.outputs[0], (node,))]
    regions = [
        one
        for region in partition.regions
        for one in (_regions(region, made) if region.is_assembled else (region,))
    ]
    graph = partition.graph.replace(nodes=tuple(nodes), types=types)
    return replace(partition, graph=graph, regions=tuple(regions))


def _nodes(found: Assembly, types: dict[str, TensorType]) -> list[Node]:
    """The copies that a concatenation needs, and the concatenation."""
    copies, inputs = list[Node](), list[str]()
    for number, part in enumerate(found.parts):
        inputs.append(part.tensor)
        if part.is_copied:
            inputs[-1] = f"{found.node.outputs[0]}#{number}"
            while inputs[-1] in types:
                inputs[-1] += "'"
            types[inputs[-1]] = types[part.tensor]
            own = replace(found.node, op="copy", attrs=CopyAttrs(), inputs=(part.tensor,))
            copies.append(replace(own, outputs=(inputs[-1],)))
    return [*copies, replace(found.node, inputs=tuple(inputs))]


def _regions(region: Region, made: Mapping[str, Sequence[Node]]) -> list[Region]:
    *copies, node = made[region.main.outputs[0]]
    (choice,) = region.choices
    return [
        *(_copying(copy, choice) for copy in copies),
        replace(region, nodes=(node,), choices=(replace(choice, nodes=(node,)),)),
    ]


def _copying(copy: Node, choice: Choice) -> Region:
    own = Choice((copy,), "mg_copy", reason="this part is not computed in its place")
    return Region(BUILTIN, (copy,), (replace(own, is_shared=choice.is_shared),))


def of(partition: Partition, primitives: Sequence[Primitive]) -> Assembled:
    """The places of all parts of a partition ``with_copies``, whose regions have these primitive
    functions."""
    dropped = [i for i, region in enumerate(partition.regions) if region.is_assembled]
    parts = {i: tuple(_parts(partition.regions[i].main, partition.graph)) for i in dropped}
    places: dict[str, Placed] = {}
    for i in reversed(dropped):  # a result that is a part itself is placed before its own parts
        result = partition.regions[i].main.outputs[0]
        outer = places.get(result, Placed(result, 0))
        for part, offset in parts[i]:
            places[part] = Placed(outer.result, outer.offset + offset)
    return Assembled(places, frozenset(dropped), _steps(partition, primitives, parts))


def _parts(node: Node, graph: Graph) -> Iterator[tuple[str, int]]:
    """The tensors whose bytes are a concatenation's parts, with their offsets."""
    bytes_of, offset = roots(graph), 0
    for name in node.inputs:
        yield bytes_of[name], offset
        offset += graph.types[name].nbytes


def _steps(
    partition: Partition,
    primitives: Sequence[Primitive],
    parts: Mapping[int, Sequence[tuple[str, int]]],
) -> dict[int, tuple[Step, ...]]:
    """The steps of the regions that are dropped, by the region that computes the last part."""
    # The region that computes a tensor, or the last part of it, which part, and its offset.
    last = {name: (i, name, 0) for i, p in enumerate(primitives) for name in p.outputs}
    steps: dict[int, tuple[Step, ...]] = {}
    for i, own in parts.items():
        ways = ((last[part], offset) for part, offset in own)
        region, part, before = max((at, name, more + offset) for (at, name, more), offset in ways)
        last[partition.regions[i].main.outputs[0]] = region, part, before
        place: Place = Around(primitives[region].outputs.index(part), before)
        if partition.regions[region].is_rolled:
            place = NotStored("its last part is computed row by row, and compared there")
        (step,) = primitives[i].steps
        steps[region] = (*steps.get(region, ()), replace(step, kernel=KERNEL, place=place))
    return steps
