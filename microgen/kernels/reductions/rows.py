"""Shared by kernels that work on rows over the last axis."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base


def sizes(node: Node, graph: Graph) -> base.Fields:
    """The number of rows and of elements per row: the first fields of every such kernel."""
    output = graph.types[node.outputs[0]]
    depth = output.shape[-1]
    return (("outer_size", output.size // depth), ("depth", depth))
