"""Concatenations whose parts can be computed in the bytes of the result.

If all sizes before the axis are 1, each part is one run of the result's bytes. Then the call that
computes a part can write it there, and the concatenation has nothing left to do: its result is
assembled. A part that no call can write there is copied.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from microgen.base.errors import InternalError
from microgen.compiler.codegens.base import Choice, Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition.assign import Partition
from microgen.compiler.passes.changes import Changes
from microgen.compiler.passes.views import roots
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.views import CopyAttrs


@dataclass(frozen=True, slots=True)
class AssembledPart:
    """An input of a concatenation. ``root`` is the tensor whose bytes it has, which are ``offset``
    bytes after the beginning of the result, unless it ``is_copied``."""

    tensor: str
    root: str
    offset: int
    is_copied: bool


@dataclass(frozen=True, slots=True)
class Assembly:
    """A concatenation that can be assembled, with its parts in order. One of them is not copied."""

    node: Node
    parts: tuple[AssembledPart, ...]


def assemblies(partition: Partition) -> dict[str, Assembly]:
    """The concatenations of a partition that can be assembled, by their results.

    They are regions of the built-in kernels that have no other node, and no variable's next value.
    A part is copied unless a kernel computes it in place. Copied parts are inputs, constants,
    variables, outputs of the network, next values of variables, and tensors that have their place
    in another concatenation. An output in the buffer of an input is not assembled.
    """
    regions, graph = partition.regions, partition.graph
    if partition.copies_parts or len({region.target for region in regions}) > 1:
        return {}
    bytes_of = roots(graph)
    free = _free(regions, graph, bytes_of)
    # A target may have memory of its own, so parts from several targets are not assembled.
    alone = {region.nodes[0].outputs[0] for region in regions if _is_alone(region)}
    kept = {*_next_values(graph, bytes_of), *(graph.outputs if partition.is_overlaid else ())}
    found: dict[str, Assembly] = {}
    for node in graph.nodes:
        result = node.outputs[0]
        if result in alone and result not in kept and _is_contiguous(node, graph):
            parts = tuple(_parts(node, graph, bytes_of, free))
            # One call of the concatenation's kernel does the same if every part is copied.
            if not all(part.is_copied for part in parts):
                found[result] = Assembly(node, parts)
                # A tensor can be in one place only, so the first concatenation gets it.
                free -= {part.root for part in parts}
    return found


def _parts(
    node: Node, graph: Graph, bytes_of: Mapping[str, str], free: Collection[str]
) -> Iterator[AssembledPart]:
    names = [bytes_of[name] for name in node.inputs]
    counts, offset = Counter(names), 0
    for tensor, root in zip(node.inputs, names, strict=True):
        # A tensor that is joined twice would have to be in two places.
        yield AssembledPart(tensor, root, offset, is_copied=root not in free or counts[root] > 1)
        offset += graph.types[tensor].nbytes


def _free(regions: Sequence[Region], graph: Graph, bytes_of: Mapping[str, str]) -> set[str]:
    """The tensors that kernels compute, and that may be anywhere."""
    nodes = (node for region in regions if _is_plain(region) for node in region.nodes)
    computed = {node.outputs[0] for node in nodes if len(node.outputs) == 1}
    outputs = {bytes_of[name] for name in graph.outputs}
    return computed - outputs - set(_next_values(graph, bytes_of))


def _next_values(graph: Graph, bytes_of: Mapping[str, str]) -> Iterator[str]:
    """The next values of variables, and the tensors that are copied there."""
    updates = {bytes_of[name] for name in graph.updates.values()}
    yield from updates
    for node in graph.nodes:
        if node.op == "copy" and node.outputs[0] in updates:
            yield bytes_of[node.inputs[0]]


def _is_plain(region: Region) -> bool:
    return region.codegen == BUILTIN and not region.function


def _is_alone(region: Region) -> bool:
    return _is_plain(region) and [node.op for node in region.nodes] == ["concatenate"]


def _is_contiguous(node: Node, graph: Graph) -> bool:
    """Whether each part is one run of the result's bytes and is not empty."""
    assert isinstance(node.attrs, ConcatenateAttrs)
    types = graph.type_of((*node.outputs, *node.inputs))
    return math.prod(types[0].shape[: node.attrs.axis]) == 1 and all(t.nbytes for t in types)


def with_copies(partition: Partition) -> Partition:
    """The partition with a region for each copy that the assembled concatenations need, before the
    concatenation, which reads the copy instead of the part."""
    chosen = [region for region in partition.regions if region.is_assembled]
    found = assemblies(partition) if chosen else {}
    changes = Changes(partition.graph)
    made: dict[str, list[Node]] = {}
    for region in chosen:
        result = region.main.outputs[0]
        if result not in found:
            raise InternalError("cannot be assembled", where=result)
        made[result] = _nodes(found[result], changes)
    if all(len(nodes) == 1 for nodes in made.values()):
        return partition  # the same objects, which code generators remember
    nodes = [one for node in partition.graph.nodes for one in made.get(node.outputs[0], (node,))]
    regions = [
        one
        for region in partition.regions
        for one in (_regions(region, made) if region.is_assembled else (region,))
    ]
    graph = changes.made(nodes=tuple(nodes))
    return replace(partition, graph=graph, regions=tuple(regions))


def _nodes(found: Assembly, changes: Changes) -> list[Node]:
    """The copies that a concatenation needs, and the concatenation."""
    copies, inputs = list[Node](), list[str]()
    for number, part in enumerate(found.parts):
        inputs.append(part.tensor)
        if part.is_copied:
            wanted = f"{found.node.outputs[0]}#{number}"
            inputs[-1] = changes.tensor(wanted, changes.types[part.tensor])
            # It keeps the concatenation's origin, so reports count it to that layer.
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
