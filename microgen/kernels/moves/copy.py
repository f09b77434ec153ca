"""Kernels for copy."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "copy"


def _params(node: Node, graph: Graph) -> base.Fields:
    return (("size", graph.types[node.outputs[0]].nbytes),)


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_copy",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
    ),
)
