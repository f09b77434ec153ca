"""Shared by the kernels of hybrid layers."""

from __future__ import annotations

import math
from collections.abc import Callable

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops import hybrid
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseWindow
from microgen.kernels import base, weights, window


def kernel(
    symbol: str, params: base.Params, scratch: Callable[[Node, Graph], int]
) -> base.Implementation:
    """A kernel that quantizes its data to ``scratch`` bytes."""
    return base.Implementation(
        symbol=symbol,
        refusal=weights.constant_float_weights,
        params=params,
        constants=_constants,
        scratch=scratch,
    )


def _constants(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
    """int8 weight, float32 bias or NULL, and the weight's float32 scales."""
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    weight = node.inputs[1]
    return (
        base.KernelConstant("weight", "int8_t", weight),
        base.KernelConstant("bias", "float", bias),
        base.KernelConstant("scale", "float", weight, "scale"),
    )


def scale_count(node: Node, graph: Graph) -> int:
    """The number of the weight's scales: 1, or one per channel."""
    return len(hybrid.scales(graph.types[node.inputs[1]]))


def window_params(node: Node, graph: Graph) -> base.Fields:
    """The fields of convolutions with stored weights: the extents as an mg_conv2d_shape, whether
    there are several scales, and the clamp."""
    attrs = node.attrs
    assert isinstance(attrs, window.Windowed)
    # A depthwise filter sees one channel. The last axis of its weight, 1HWC, has all of them.
    depth = graph.types[node.inputs[1]].shape[3]
    return (
        *window.shape_fields(
            attrs, node, graph, 1 if isinstance(attrs, DepthwiseWindow) else depth
        ),
        *scaled_fields(attrs.activation, node, graph),
    )


def scaled_fields(activation: Activation, node: Node, graph: Graph) -> base.Fields:
    """Whether the weight has several scales, and the clamp."""
    output = graph.types[node.outputs[0]]
    return (
        ("per_channel", int(scale_count(node, graph) > 1)),
        *base.activation_fields(activation, output),
    )


def image_bytes(node: Node, graph: Graph) -> int:
    """The scratch for one quantized image, in bytes."""
    return math.prod(graph.types[node.inputs[0]].shape[1:])
