"""Kernels for logical_not."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base

OP_NAME = "logical_not"


def _params(node: Node, graph: Graph) -> base.Fields:
    return (("size", graph.types[node.outputs[0]].size),)


KERNELS = (
    base.Kernel(
        symbol="mg_logical_not_bool",
        needs=base.REFERENCE,
        refusal=base.only(DType.BOOL),
        params=_params,
        in_place=base.as_is,
    ),
)
