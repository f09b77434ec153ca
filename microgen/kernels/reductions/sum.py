"""Kernels for sum."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.reductions.reduction import SumParameters, sum_parameters
from microgen.kernels import base
from microgen.kernels.reductions import reduction

OP_NAME = "sum"


def _scale(node: Node, graph: Graph) -> SumParameters:
    (data,), output = base.types(node, graph)
    return sum_parameters(data, output)


IMPLEMENTATIONS = (*reduction.sum_kernels(_scale, divisor=lambda *_: 1), reduction.PLAIN_SUM)
