"""Kernels for sum."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, reduction
from microgen.ops.reduction import SumParameters, sum_parameters

OP_NAME = "sum"


def _scale(node: Node, graph: Graph) -> SumParameters:
    (data,), output = base.types(node, graph)
    return sum_parameters(data, output)


IMPLEMENTATIONS = (*reduction.sum_kernels(_scale, divisor=lambda *_: 1), reduction.PLAIN_SUM)
