"""Makes padding explicit, and moves pads into the windows that read them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs, Conv2DWindow
from microgen.graph.ops.convolution.conv2d_transpose import TransposeWindow
from microgen.graph.ops.depthwise.depthwise_conv2d import (
    DepthwiseConv2DAttrs,
    DepthwiseWindow,
)
from microgen.graph.ops.geometry import MOST, explicit, resolve
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.window import spatial

ConvolutionAttrs = Conv2DWindow | DepthwiseWindow
WindowAttrs = ConvolutionAttrs | TransposeWindow | AvgPool2DAttrs | MaxPool2DAttrs


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
    if isinstance(attrs, TransposeWindow):  # of the convolution that goes the other way
        return NodeWindow(attrs, attrs.size, spatial(shapes[1]))
    if isinstance(attrs, AvgPool2DAttrs | MaxPool2DAttrs):
        return NodeWindow(attrs, spatial(shapes[0]), attrs.pool_size)
    return None


def canonical_padding(graph: Graph) -> Graph:
    """The graph with every window's padding as (top, left, bottom, right)."""
    return graph.replace(nodes=tuple(_explicit(node, graph) for node in graph.nodes))


def _explicit(node: Node, graph: Graph) -> Node:
    window = window_of(node, graph)
    if window is None:
        return node
    attrs = window.attrs
    pads = resolve(attrs.padding, window.data, window.size, attrs.strides, window.dilation)
    return dataclasses.replace(node, attrs=dataclasses.replace(attrs, padding=pads))


def fold_pad(graph: Graph) -> Graph:
    """The graph with spatial pads folded. A pad node is kept if it has other readers."""
    producers = graph.producer_of()
    return graph.replace(nodes=tuple(_folded(node, graph, producers) for node in graph.nodes))


def _folded(node: Node, graph: Graph, producers: dict[str, Node]) -> Node:
    window = window_of(node, graph)
    pad = producers.get(node.inputs[0]) if node.inputs else None
    if window is None or not window.pads_with_zero_point or pad is None:
        return node
    if not isinstance(pad.attrs, PadAttrs) or not _is_spatial_zero(pad, graph):
        return node
    # Each target and each external function computes its own nodes.
    if pad.place != node.place:
        return node
    (_, _), (top, bottom), (left, right), (_, _) = pad.attrs.pads
    own = explicit(window.attrs.padding)
    padding = (own[0] + top, own[1] + left, own[2] + bottom, own[3] + right)
    # Each of the two fits the limit of convolutions, but their sum need not.
    if max(padding) > MOST:
        return node
    attrs = dataclasses.replace(window.attrs, padding=padding)
    return dataclasses.replace(node, attrs=attrs, inputs=(pad.inputs[0], *node.inputs[1:]))


def _is_spatial_zero(pad: Node, graph: Graph) -> bool:
    """Whether the node pads only height and width, with the value that a convolution reads as 0."""
    assert isinstance(pad.attrs, PadAttrs)
    data = graph.types[pad.inputs[0]]
    return (
        len(pad.attrs.pads) == 4
        and pad.attrs.pads[0] == pad.attrs.pads[3] == (0, 0)
        and data.quant == graph.types[pad.outputs[0]].quant
        and pad.attrs.value == data.zero
    )
