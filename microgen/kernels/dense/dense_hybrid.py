"""Kernels for nn.dense_hybrid."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.dense.dense import DenseHybridAttrs
from microgen.kernels import base, hybrid
from microgen.kernels.dense import dense

OP_NAME = "nn.dense_hybrid"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, DenseHybridAttrs)
    output = graph.types[node.outputs[0]]
    return (
        *dense.sizes(node, graph),
        ("asymmetric", int(attrs.asymmetric)),
        ("per_channel", int(hybrid.scale_count(node, graph) > 1)),
        *base.activation_fields(attrs.activation, output),
    )


def _row_bytes(node: Node, graph: Graph) -> int:
    return graph.types[node.inputs[1]].shape[1]


IMPLEMENTATIONS = (hybrid.kernel("mg_dense_hybrid_f32", _params, _row_bytes),)
