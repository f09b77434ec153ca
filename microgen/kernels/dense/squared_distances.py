"""The kernel of squared distances."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base

OP_NAME = "squared_distances"


def _params(node: Node, graph: Graph) -> base.Fields:
    (rows, vectors), _ = base.types(node, graph)
    return (
        ("rows", rows.shape[0]),
        ("vectors", vectors.shape[0]),
        ("features", rows.shape[1]),
    )


IMPLEMENTATIONS = (
    # Products and sums may be fused.
    base.float_kernel("mg_squared_distances_f32", params=_params, inputs=(0, 1), ulps=8),
)
