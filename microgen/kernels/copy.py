"""Kernels for copy."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base

OP_NAME = "copy"


def _params(node: Node, graph: Graph) -> base.Fields:
    return (("size", graph.types[node.outputs[0]].nbytes),)


KERNELS = (
    base.Kernel(
        symbol="mg_copy_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
    ),
)
