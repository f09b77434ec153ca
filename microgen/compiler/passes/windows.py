"""Nodes that slide a window over height and width, as padding passes see them."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs, Conv2DHybridAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import (
    DepthwiseConv2DAttrs,
    DepthwiseConv2DHybridAttrs,
)
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.window import spatial

ConvolutionAttrs = (
    Conv2DAttrs | DepthwiseConv2DAttrs | Conv2DHybridAttrs | DepthwiseConv2DHybridAttrs
)
WindowAttrs = ConvolutionAttrs | Conv2DTransposeAttrs | AvgPool2DAttrs | MaxPool2DAttrs


@dataclass(frozen=True, slots=True)
class NodeWindow:
    """A node's window: the node's attributes, the height and width of the data that the window
    slides over, the window's own height and width, and its dilation."""

    attrs: WindowAttrs
    data: Pair
    size: Pair
    dilation: Pair = (1, 1)

    @property
    def pads_with_zero_point(self) -> bool:
        """Whether a pad with the zero point before the node may become the node's own padding."""
        # Pools skip cells outside the data, and other sums have no zero point.
        return isinstance(self.attrs, Conv2DAttrs | DepthwiseConv2DAttrs)


def window_of(node: Node, graph: Graph) -> NodeWindow | None:
    """The node's window, or None if it has none."""
    attrs = node.attrs
    shapes = [t.shape for t in graph.type_of(node.inputs)]
    if isinstance(attrs, ConvolutionAttrs):
        return NodeWindow(attrs, spatial(shapes[0]), spatial(shapes[1]), attrs.dilation)
    if isinstance(attrs, Conv2DTransposeAttrs):  # of the convolution that goes the other way
        return NodeWindow(attrs, attrs.size, spatial(shapes[1]))
    if isinstance(attrs, AvgPool2DAttrs | MaxPool2DAttrs):
        return NodeWindow(attrs, spatial(shapes[0]), attrs.pool_size)
    return None
