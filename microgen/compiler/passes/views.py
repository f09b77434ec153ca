"""Views: the tensors whose bytes they show, and chains of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops import registry
from microgen.graph.ops.moves.views import ReinterpretAttrs


def is_view(node: Node, graph: Graph) -> bool:
    """Whether the node's output has bytes of its input, so that no call computes it."""
    return registry()[node.op].is_view or node.outputs[0] in graph.sections


def roots(graph: Graph) -> dict[str, str]:
    """Tensor name -> the name of the tensor whose bytes it has. Only for a view they differ."""
    found = {name: name for name in graph.types}
    # Nodes are in execution order, so the input of a view has its final entry already.
    for node in graph.nodes:
        if is_view(node, graph):
            found[node.outputs[0]] = found[node.inputs[0]]
    return found


def without_unread(nodes: Sequence[Node], results: Iterable[str]) -> tuple[Node, ...]:
    """The nodes without views that nothing reads, which would keep other passes from moving into
    the nodes before them."""
    read, kept = set(results), list[Node]()
    for node in reversed(nodes):
        if node.outputs[0] in read or not registry()[node.op].is_view:
            read.update(node.inputs)
            kept.append(node)
    return tuple(reversed(kept))


def rename(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph in which each read of a key of ``names`` is a read of its value instead."""
    nodes = tuple(
        dataclasses.replace(n, inputs=tuple(names.get(i, i) for i in n.inputs)) for n in graph.nodes
    )
    return graph.replace(
        nodes=nodes,
        outputs=tuple(names.get(o, o) for o in graph.outputs),
        updates={v: names.get(n, n) for v, n in graph.updates.items()},
    )


def merge_views(graph: Graph) -> Graph:
    """The graph in which no view reads a view, and every view changes the shape."""
    sources: dict[str, str] = {}
    nodes: list[Node] = []
    same: dict[str, str] = {}
    for node in graph.nodes:
        if not registry()[node.op].is_view:
            nodes.append(node)
            continue
        source = sources.get(node.inputs[0], node.inputs[0])
        sources[node.outputs[0]] = source
        # An output keeps its own name, by which the caller gets it.
        if graph.types[source] == graph.types[node.outputs[0]] and not _is_port(node, graph):
            same[node.outputs[0]] = source
        else:
            nodes.append(_merged(node, source, graph))
    return rename(graph.replace(nodes=tuple(nodes)), same)


def _merged(node: Node, source: str, graph: Graph) -> Node:
    """The node as a view of the source, which may have another quantization."""
    kind = graph.types[node.outputs[0]]
    merged = dataclasses.replace(node, inputs=(source,))
    if graph.types[source].quant == kind.quant:
        return merged
    return dataclasses.replace(merged, op="qnn.reinterpret", attrs=ReinterpretAttrs(kind.shape))


def _is_port(node: Node, graph: Graph) -> bool:
    return node.outputs[0] in graph.outputs
