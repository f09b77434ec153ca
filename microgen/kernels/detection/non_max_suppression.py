"""Kernels for vision.non_max_suppression."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.suppression import NonMaxSuppressionAttrs
from microgen.kernels import base

OP_NAME = "vision.non_max_suppression"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, NonMaxSuppressionAttrs)
    (boxes, *_), _ = base.types(node, graph)
    return (
        ("boxes", boxes.shape[0]),
        ("most", node.attrs.most),
        ("least_score", node.attrs.least_score),
        ("overlap", node.attrs.overlap),
    )


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_non_max_suppression_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_params,
        inputs=(0, 1, 2),
    ),
)
