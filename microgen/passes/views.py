"""Which tensor's bytes a view shows."""

from __future__ import annotations

from microgen.ir.graph import Graph
from microgen.ops import registry


def roots(graph: Graph) -> dict[str, str]:
    """Tensor name -> the tensor whose bytes it has: itself, unless it is a view."""
    found = {name: name for name in graph.types}
    for node in graph.nodes:
        if registry()[node.op].is_view:
            found[node.outputs[0]] = found[node.inputs[0]]
    return found
