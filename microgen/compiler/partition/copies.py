"""Copies of the parts of assembled concatenations that no call computes in their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from microgen.base.errors import InternalError
from microgen.compiler.codegens.base import Choice, Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition.assembly import Assembly, assemblies
from microgen.compiler.partition.assign import Partition
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.ops.moves.views import CopyAttrs


def with_copies(partition: Partition) -> Partition:
    """The partition with a region for each copy that the assembled concatenations need, before the
    concatenation, which reads the copy instead of the part."""
    chosen = [region for region in partition.regions if region.is_assembled]
    found = assemblies(partition) if chosen else {}
    types = dict(partition.graph.types)
    made: dict[str, list[Node]] = {}
    for region in chosen:
        result = region.main.outputs[0]
        if result not in found:
            raise InternalError("cannot be assembled", where=result)
        made[result] = _nodes(partition.graph, found[result], types)
    if all(len(nodes) == 1 for nodes in made.values()):
        return partition  # the same objects, which code generators remember
    nodes = [one for node in partition.graph.nodes for one in made.get(node.outputs[0], (node,))]
    regions = [
        one
        for region in partition.regions
        for one in (_regions(region, made) if region.is_assembled else (region,))
    ]
    graph = partition.graph.replace(nodes=tuple(nodes), types=types)
    return replace(partition, graph=graph, regions=tuple(regions))


def _nodes(graph: Graph, found: Assembly, types: dict[str, ArrayType]) -> list[Node]:
    """The copies that a concatenation needs, and the concatenation."""
    copies, inputs = list[Node](), list[str]()
    for number, part in enumerate(found.parts):
        inputs.append(part.tensor)
        if part.is_copied:
            wanted = f"{found.node.outputs[0]}#{number}"
            inputs[-1] = layouts.fresh(graph, wanted, more=types)
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
