"""Shared by kernels of convolutions: their parameters."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs, Conv2DWindow
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs, TransposeWindow
from microgen.graph.ops.depthwise.depthwise_conv2d import (
    DepthwiseConv2DAttrs,
    DepthwiseWindow,
)
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base, weights
from microgen.kernels.constant import Tables
from microgen.kernels.work import seen

# For float32 sums. n roundings err by at most n units, and for a random sum by about sqrt(n).
# Outputs that cancel or are clamped are small compared with their sums.
FLOAT_ULPS = 16

_Convolution = Conv2DAttrs | DepthwiseConv2DAttrs | Conv2DTransposeAttrs
Windowed = Conv2DWindow | DepthwiseWindow | TransposeWindow


def fields(node: Node, graph: Graph) -> base.Fields:
    """Strides, dilation, padding, zero points, and the clamp."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    (data, *_), output = base.types(node, graph)
    clamp = base.activation_fields(attrs.activation, output)
    steps = _steps(attrs.strides, attrs.dilation, attrs.padding)
    return (*steps, *base.offsets(data, output), *clamp)


def _steps(strides: Pair, dilation: Pair, padding: Padding) -> base.Fields:
    top, left, _, _ = explicit(padding)
    return (
        ("stride_height", strides[0]),
        ("stride_width", strides[1]),
        ("dilation_height", dilation[0]),
        ("dilation_width", dilation[1]),
        ("pad_top", top),
        ("pad_left", left),
    )


def constants(node: Node, graph: Graph) -> Tables:
    """Weight, bias, and the scale of each output channel."""
    channels = graph.types[node.outputs[0]].shape[3]
    return weights.weights_and_tables(node, graph, "conv", channels)


def sizes(node: Node, graph: Graph) -> base.Fields:
    """Extents of data, output and filters, for kernels whose filters see several channels."""
    (_, weight, *_), output = base.types(node, graph)
    return (
        *base.image_fields(node, graph, "input_channels"),
        ("output_channels", output.shape[3]),
        ("kernel_height", weight.shape[1]),
        ("kernel_width", weight.shape[2]),
    )


def shaped_fields(node: Node, graph: Graph) -> base.Fields:
    """The fields of float32 kernels, and of int16 ones, which add ``rounding``: the extents as an
    mg_conv2d_shape, and the clamp."""
    attrs = node.attrs
    assert isinstance(attrs, _Convolution)
    inputs, output = base.types(node, graph)
    # A depthwise filter sees one channel. The last axis of its weight, 1HWC, has all of them.
    depth = 1 if isinstance(attrs, DepthwiseConv2DAttrs) else inputs[1].shape[3]
    return (
        *shape_fields(attrs, node, graph, depth),
        *base.wide_rounding(attrs.rounding, output),
        *base.activation_fields(attrs.activation, output),
    )


def float_kernel(symbol: str, in_place: base.InPlace = base.not_in_place) -> base.Implementation:
    """The reference kernel of a convolution in float32."""
    return base.float_kernel(
        symbol,
        params=shaped_fields,
        inputs=base.DATA_WEIGHT_BIAS,
        ulps=FLOAT_ULPS,
        in_place=in_place,
    )


def wide_kernel(
    symbol: str, refusal: base.Refuse, in_place: base.InPlace = base.not_in_place
) -> base.Implementation:
    """The reference kernel of a convolution of int16 data."""
    return base.Implementation(
        symbol, refusal, shaped_fields, constants=constants, in_place=in_place
    )


def shape_fields(attrs: Windowed, node: Node, graph: Graph, depth: int) -> base.Fields:
    """The extents as an mg_conv2d_shape; filters see ``depth`` channels."""
    dilation = (1, 1) if isinstance(attrs, TransposeWindow) else attrs.dilation
    steps = _steps(attrs.strides, dilation, attrs.padding)
    shape = (*sizes(node, graph), ("filter_channels", depth), *steps)
    return tuple((f"shape.{name}", value) for name, value in shape)


def whole(node: Node, graph: Graph) -> list[bool]:
    """For each pixel of the output, in memory order, whether its window is inside the input."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    (data, weight, *_), output = base.types(node, graph)
    shapes = (base.spatial(data), base.spatial(output), base.spatial(weight))
    rows, columns = seen(attrs.padding, *shapes, attrs.strides, attrs.dilation)
    height, width = base.spatial(weight)
    return [r == height and c == width for r in rows for c in columns] * output.shape[0]
