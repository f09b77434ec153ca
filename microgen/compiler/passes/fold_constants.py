"""Computes every node whose inputs are all constants."""

from __future__ import annotations

from collections.abc import Mapping

from microgen.graph.ir.graph import Array, Graph, Node, constant
from microgen.graph.ops import budget
from microgen.graph.ops.base import Operands, StatusError


def _values(node: Node, graph: Graph, constants: Mapping[str, Array]) -> tuple[Array, ...] | None:
    """The node's results if they are constant and exist, otherwise None."""
    # An external function's nodes are not folded, because its code generator computes them. A loop
    # is not folded, because it may take long.
    if node.op in ("external", "loop") or not all(name in constants for name in node.inputs):
        return None
    values = tuple(constants[name] for name in node.inputs)
    operands = Operands(values, graph.type_of(node.inputs), graph.type_of(node.outputs))
    try:
        return budget.evaluated(node.op, node.attrs, operands, str(node.origin))
    except StatusError:
        # The result does not exist, so the firmware has to report the error.
        return None


def fold_constants(graph: Graph) -> Graph:
    """The graph with constant nodes replaced by their values."""
    constants = dict(graph.constants)
    kept: list[Node] = []
    for node in graph.nodes:
        values = _values(node, graph, constants)
        if values is None:
            kept.append(node)
        else:
            constants.update(zip(node.outputs, map(constant, values), strict=True))
    return graph.replace(nodes=tuple(kept), constants=constants)
