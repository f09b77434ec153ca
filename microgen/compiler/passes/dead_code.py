"""Drops nodes, constants and types that nothing reads."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, live_nodes


def dead_code(graph: Graph) -> Graph:
    """The graph without everything that neither an output nor a variable's next value depends on.
    Graph inputs are always kept."""
    kept = live_nodes(graph.nodes, graph.results)
    named = (name for node in kept for name in (*node.inputs, *node.outputs))
    live = {*graph.results, *graph.updates, *graph.inputs, *named}
    return graph.replace(
        nodes=kept,
        constants={name: array for name, array in graph.constants.items() if name in live},
        variables=tuple(name for name in graph.variables if name in live),
        types={name: tensor for name, tensor in graph.types.items() if name in live},
        int4=graph.int4 & live,
        stored={name: own for name, own in graph.stored.items() if name in live},
        # No later pass may give one of these names of the model to another tensor.
        dropped=graph.dropped | (graph.types.keys() - live),
        laid_out={name: layout for name, layout in graph.laid_out.items() if name in live},
    )
