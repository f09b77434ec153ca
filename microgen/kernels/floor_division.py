"""Shared by the kernels of floor_divide and floor_mod."""

from __future__ import annotations

from dataclasses import replace

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast


def _params(node: Node, graph: Graph) -> base.Fields:
    return (*broadcast.shapes(node, graph), ("divisors", graph.types[node.inputs[1]].size))


def failing(symbol: str, dtype: DType) -> base.Implementation:
    """The kernel ``symbol``, which fails if a divisor is zero."""
    return replace(broadcast.kernel(symbol, dtype, _params), can_fail=True)
