"""Kernels for nn.depthwise_conv2d in float32, for cores with an FPU or with vectors of
floats."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import blocks, float_work, floats, window

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 3


def _refusal(node: Node, graph: Graph) -> str | None:
    return floats.refuses(node, graph) or blocks.depthwise(node, graph)


IMPLEMENTATIONS = (
    floats.vectors(
        "depthwise_conv2d_f32",
        _refusal,
        window.shaped_fields,
        float_work.depthwise,
        floats.PLAIN,
    ),
    *floats.kernels("depthwise_conv2d_f32", _refusal, window.shaped_fields, float_work.depthwise),
)
