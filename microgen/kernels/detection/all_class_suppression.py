"""Kernels for vision.all_class_non_max_suppression."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.suppression import AllClassSuppressionAttrs
from microgen.kernels import base

OP_NAME = "vision.all_class_non_max_suppression"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, AllClassSuppressionAttrs)
    batches, classes, boxes = graph.types[node.inputs[1]].shape
    return (
        ("batches", batches),
        ("classes", classes),
        ("boxes", boxes),
        ("most", attrs.most),
        ("is_centred", int(attrs.is_centred)),
        ("has_least", int(attrs.least_score is not None)),
        ("least_score", float(attrs.least_score or 0.0)),
        ("overlap", attrs.overlap),
    )


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_all_class_suppression_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32, DType.INT64),
        params=_params,
        inputs=(0, 1),
    ),
)
