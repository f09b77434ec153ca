"""Kernels for non-maximum suppression."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.suppression import (
    AllClassSuppressionAttrs,
    MulticlassSuppressionAttrs,
    NonMaxSuppressionAttrs,
)
from microgen.kernels import base


def _non_max_suppression_params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, NonMaxSuppressionAttrs)
    (boxes, *_), _ = base.types(node, graph)
    return (
        ("boxes", boxes.shape[0]),
        ("most", node.attrs.most),
        ("least_score", node.attrs.least_score),
        ("overlap", node.attrs.overlap),
    )


def _all_class_suppression_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, AllClassSuppressionAttrs)
    batches, classes, boxes = graph.types[node.inputs[1]].shape
    return (
        ("batches", batches),
        ("classes", classes),
        ("boxes", boxes),
        ("most", attrs.most),
        ("is_centred", int(attrs.is_centred)),
        ("has_least", int(attrs.least_score is not None)),
        # Without a least score, the kernel does not read it.
        ("least_score", float(attrs.least_score or 0.0)),
        ("overlap", attrs.overlap),
    )


def _multiclass_suppression_params(node: Node, graph: Graph) -> base.Fields:
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


def _multiclass_suppression_scratch(node: Node, graph: Graph) -> int:
    """A byte for each box."""
    return graph.types[node.inputs[0]].shape[0]


BY_OP = {
    "vision.non_max_suppression": (
        base.float_kernel(
            "mg_non_max_suppression_f32", params=_non_max_suppression_params, inputs=(0, 1, 2)
        ),
    ),
    "vision.all_class_non_max_suppression": (
        base.Implementation(
            symbol="mg_all_class_suppression_f32",
            refusal=base.only(DType.FLOAT32, DType.INT64),
            params=_all_class_suppression_params,
            inputs=(0, 1),
        ),
    ),
    "vision.multiclass_suppression": (
        base.float_kernel(
            "mg_multiclass_suppression_f32",
            params=_multiclass_suppression_params,
            inputs=(0, 1),
            scratch=_multiclass_suppression_scratch,
        ),
    ),
}
