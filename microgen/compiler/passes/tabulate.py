"""Replaces functions of one int8 or int16 value by lookups in tables of their results."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir import layouts
from microgen.graph.ir.graph import Array, ArrayType, Graph, Node
from microgen.graph.ops import budget, registry
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.tables.tables import LOOKUP_ENTRIES, LookupAttrs


def tabulate(graph: Graph) -> Graph:
    """The graph in which each node whose op has a table for its dtype is a ``lookup`` instead.

    Output and origin are kept, and the attributes have the op's name. Equal tables are shared.
    """
    types, constants = dict(graph.types), dict(graph.constants)
    tables: dict[tuple[ArrayType, bytes], str] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        if graph.types[node.inputs[0]].dtype not in registry()[node.op].tables:
            nodes.append(node)
            continue
        kind, values = _table(node, graph)
        fresh = layouts.fresh(graph, f"{node.outputs[0]}#table", more=types)
        name = tables.setdefault((kind, values.tobytes()), fresh)
        types[name], constants[name] = kind, values
        attrs = LookupAttrs(node.op)
        inputs = (*node.inputs, name)
        nodes.append(dataclasses.replace(node, op="lookup", inputs=inputs, attrs=attrs))
    return graph.replace(nodes=tuple(nodes), types=types, constants=constants)


def _table(node: Node, graph: Graph) -> tuple[ArrayType, Array]:
    """The node's table and its type, which has the output's quantization."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    entries = ArrayType((LOOKUP_ENTRIES[data.dtype],), data.dtype)
    budget.spend(elementwise(node.attrs, [entries], [entries]), str(node.origin))
    values = registry()[node.op].tables[data.dtype](node.attrs, data, output)
    return dataclasses.replace(output, shape=values.shape), values
