"""Kernels for where."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast

OP_NAME = "where"


def _params(node: Node, graph: Graph) -> base.Fields:
    fields = broadcast.strided(node, graph, ("condition_stride", "lhs_stride", "rhs_stride"))
    return (*fields, ("element_bytes", graph.types[node.outputs[0]].dtype.nbytes))


def _in_place(node: Node, graph: Graph) -> base.Lags:
    return {i: lag for i, lag in broadcast.in_place(node, graph).items() if i > 0}


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_where",
        needs=base.REFERENCE,
        refusal=broadcast.too_many_axes,
        params=_params,
        inputs=(0, 1, 2),
        in_place=_in_place,
    ),
)
