"""Adds a copy for each output that no node computes for this output alone."""

from __future__ import annotations

from microgen.compiler.passes.views import roots
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import Graph, Node, Origin
from microgen.graph.ops.moves.views import CopyAttrs


def own_outputs(graph: Graph) -> Graph:
    """The graph in which every output's bytes are computed by a node for that output alone.

    An output that is an input, a constant, a variable, or already another output, is copied. All
    others are written in place by the nodes that compute them.
    """
    bytes_of = roots(graph)
    taken = {*graph.inputs, *graph.constants, *graph.variables}
    copies: list[Node] = []
    outputs: list[str] = []
    types = dict(graph.types)
    for name in graph.outputs:
        # Two outputs must not share bytes, and inputs, constants and variables have owners.
        if bytes_of[name] in taken:
            copy = layouts.fresh(graph, f"{name}#copy{len(copies)}", more=types)
            types[copy] = types[name]
            copies.append(Node("copy", (name,), (copy,), CopyAttrs(), Origin(graph.name, name)))
            outputs.append(copy)
        else:
            taken.add(bytes_of[name])
            outputs.append(name)
    return graph.replace(nodes=(*graph.nodes, *copies), outputs=tuple(outputs), types=types)
