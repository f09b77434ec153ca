"""Runs a graph with the ops' numpy references: what every firmware is compared with."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.ir.graph import Array, Graph, Node
from microgen.ops.base import Op, Operands


def evaluate(graph: Graph, inputs: Mapping[str, Array], ops: Mapping[str, Op]) -> dict[str, Array]:
    """Every tensor of the graph by name: inputs, constants and all that nodes compute.

    ``inputs`` has one array per graph input, of the declared shape and dtype.
    """
    values: dict[str, Array] = {**graph.constants, **{name: inputs[name] for name in graph.inputs}}
    for node in graph.nodes:
        values.update(zip(node.outputs, evaluate_node(node, graph, values, ops), strict=True))
    return values


def evaluate_node(
    node: Node, graph: Graph, values: Mapping[str, Array], ops: Mapping[str, Op]
) -> tuple[Array, ...]:
    """The outputs of one node, its inputs taken from ``values``."""
    operands = Operands(
        tuple(values[name] for name in node.inputs),
        graph.type_of(node.inputs),
        graph.type_of(node.outputs),
    )
    return ops[node.op].reference(node.attrs, operands)
