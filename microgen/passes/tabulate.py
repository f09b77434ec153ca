"""Replaces functions of one int8 value by lookups in tables of their 256 results."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.ir.graph import Array, Graph, Node, TensorType, frozen
from microgen.ops import registry
from microgen.ops.base import Operands
from microgen.ops.lookup import ENTRIES, LEAST, LookupAttrs


def tabulate(graph: Graph) -> Graph:
    """The graph in which every node whose op ``is_tabulated`` is a ``lookup`` instead.

    Output, origin and, in the attributes, the op's name stay. Nodes with equal tables share one.
    """
    types, constants = dict(graph.types), dict(graph.constants)
    tables: dict[tuple[TensorType, bytes], str] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        if not registry()[node.op].is_tabulated:
            nodes.append(node)
            continue
        kind, values = _table(node, graph)
        name = tables.setdefault((kind, values.tobytes()), f"{node.outputs[0]}#table")
        types[name], constants[name] = kind, values
        attrs = LookupAttrs(node.op)
        inputs = (*node.inputs, name)
        nodes.append(dataclasses.replace(node, op="lookup", inputs=inputs, attrs=attrs))
    return graph.replace(nodes=tuple(nodes), types=types, constants=constants)


def _table(node: Node, graph: Graph) -> tuple[TensorType, Array]:
    """The output of the node's reference for each int8 value, in order, and its type."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    kinds = tuple(dataclasses.replace(kind, shape=(ENTRIES,)) for kind in (data, output))
    every = np.arange(LEAST, LEAST + ENTRIES).astype(np.int8)
    operands = Operands((every,), kinds[:1], kinds[1:])
    (values,) = registry()[node.op].reference(node.attrs, operands)
    return kinds[1], frozen(values)
