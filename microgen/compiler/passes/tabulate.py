"""Replaces functions of one int8 or int16 value by lookups in tables of their results."""

from __future__ import annotations

import dataclasses

from microgen.compiler.passes.changes import Changes
from microgen.graph.ir.graph import Array, ArrayType, Graph, Node
from microgen.graph.ops import budget, registry
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.tables.tables import LOOKUP_ENTRIES, LookupAttrs


def tabulate(graph: Graph) -> Graph:
    """The graph in which each node whose op has a table for its dtype is a ``lookup`` instead.

    Output and origin are kept, and the attributes have the op's name. Equal tables are shared.
    """
    changes = Changes(graph)
    tables: dict[tuple[ArrayType, bytes], str] = {}
    for node in graph.nodes:
        if graph.types[node.inputs[0]].dtype not in registry()[node.op].tables:
            continue
        kind, values = _table(node, graph)
        key = kind, values.tobytes()
        if key not in tables:
            tables[key] = changes.constant(f"{node.outputs[0]}#table", values, kind)
        attrs, inputs = LookupAttrs(node.op), (*node.inputs, tables[key])
        made = dataclasses.replace(node, op="lookup", inputs=inputs, attrs=attrs)
        changes.changed[node.outputs[0]] = made
    return changes.made()


def _table(node: Node, graph: Graph) -> tuple[ArrayType, Array]:
    """The node's table and its type, which has the output's quantization."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    entries = ArrayType((LOOKUP_ENTRIES[data.dtype],), data.dtype)
    # The op's function is computed once for each entry, in Python.
    budget.spend(elementwise(node.attrs, [entries], [entries]), str(node.origin))
    values = registry()[node.op].tables[data.dtype](node.attrs, data, output)
    return dataclasses.replace(output, shape=values.shape), values
