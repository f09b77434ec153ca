"""Drops nodes, constants and types that nothing reads."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node


def dead_code(graph: Graph) -> Graph:
    """The graph without everything that no output depends on. Graph inputs are always kept."""
    live = set(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if live & set(node.outputs):
            live.update(node.inputs)
            kept.append(node)
    live.update(graph.inputs, (out for node in kept for out in node.outputs))
    return graph.replace(
        nodes=tuple(reversed(kept)),
        constants={name: array for name, array in graph.constants.items() if name in live},
        variables=tuple(name for name in graph.variables if name in live),
        types={name: tensor for name, tensor in graph.types.items() if name in live},
    )
