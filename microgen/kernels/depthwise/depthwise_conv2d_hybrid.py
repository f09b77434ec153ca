"""Kernels for nn.depthwise_conv2d_hybrid."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DHybridAttrs
from microgen.kernels import base, hybrid, window

OP_NAME = "nn.depthwise_conv2d_hybrid"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, DepthwiseConv2DHybridAttrs)
    output = graph.types[node.outputs[0]]
    return (
        *window.shape_fields(attrs, node, graph, 1),
        *base.activation_fields(attrs.activation, output),
    )


IMPLEMENTATIONS = (hybrid.kernel("mg_depthwise_conv2d_hybrid_f32", _params, hybrid.image_bytes),)
