"""Finds the tensors whose bytes views show."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph
from microgen.graph.ops import registry


def roots(graph: Graph) -> dict[str, str]:
    """Tensor name -> the name of the tensor whose bytes it has. Only for a view they differ."""
    found = {name: name for name in graph.types}
    for node in graph.nodes:
        if registry()[node.op].is_view:
            found[node.outputs[0]] = found[node.inputs[0]]
    return found
