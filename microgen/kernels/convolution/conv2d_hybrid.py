"""Kernels for nn.conv2d_hybrid."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DHybridAttrs
from microgen.kernels import base, hybrid, window

OP_NAME = "nn.conv2d_hybrid"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, Conv2DHybridAttrs)
    inputs, output = base.types(node, graph)
    return (
        *window.shape_fields(attrs, node, graph, inputs[1].shape[3]),
        ("per_channel", int(hybrid.scale_count(node, graph) > 1)),
        *base.activation_fields(attrs.activation, output),
    )


IMPLEMENTATIONS = (hybrid.kernel("mg_conv2d_hybrid_f32", _params, hybrid.image_bytes),)
