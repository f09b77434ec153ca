"""Kernels for vision.multiclass_suppression."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.multiclass_suppression import MulticlassSuppressionAttrs
from microgen.kernels import base

OP_NAME = "vision.multiclass_suppression"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, MulticlassSuppressionAttrs)
    (_, scores), _ = base.types(node, graph)
    boxes, classes = scores.shape
    return (
        ("boxes", boxes),
        ("classes", classes),
        ("most", node.attrs.most),
        ("each", node.attrs.each),
        ("per_class", node.attrs.per_class),
        ("least_score", node.attrs.least_score),
        ("overlap", node.attrs.overlap),
    )


def _scratch(node: Node, graph: Graph) -> int:
    """A byte for each box."""
    return graph.types[node.inputs[0]].shape[0]


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_multiclass_suppression_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_params,
        inputs=(0, 1),
        scratch=_scratch,
    ),
)
