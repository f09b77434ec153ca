"""Computes every node whose inputs are all constants."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node, frozen
from microgen.ir.interpreter import evaluate_node
from microgen.ops import registry


def fold_constants(graph: Graph) -> Graph:
    """The graph with constant nodes replaced by their values."""
    constants = dict(graph.constants)
    kept: list[Node] = []
    for node in graph.nodes:
        if all(name in constants for name in node.inputs):
            values = evaluate_node(node, graph, constants, registry())
            constants.update(zip(node.outputs, map(frozen, values), strict=True))
        else:
            kept.append(node)
    return graph.replace(nodes=tuple(kept), constants=constants)
