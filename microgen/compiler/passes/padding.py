"""Makes padding explicit, and moves pads into the windows that read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from microgen.compiler.passes.arrangement import Arrangement, Shape
from microgen.compiler.passes.changes import Changes
from microgen.graph.ir import layouts
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
from microgen.graph.ops.moves.views import ReshapeAttrs
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
    """The graph with spatial pads folded, also if a reshape between the pad and the window adds or
    drops axes of size 1. A pad node is kept if it has other readers."""
    producers, changes = graph.producer_of(), Changes(graph)
    nodes = [made for node in graph.nodes for made in _folded(node, changes, producers)]
    return changes.made(nodes=tuple(nodes))


def _folded(node: Node, changes: Changes, producers: Mapping[str, Node]) -> Iterator[Node]:
    """The node, after the reshape of the data that it needs without the pad."""
    graph = changes.graph
    window = window_of(node, graph)
    pad = producers.get(node.inputs[0]) if node.inputs else None
    view = pad if pad and isinstance(pad.attrs, ReshapeAttrs) else None
    pad = producers.get(view.inputs[0]) if view else pad
    pads = _spatial_pads(pad, graph.types[node.inputs[0]].shape, graph) if pad and window else None
    # Each target and each external function computes its own nodes.
    places = {each.place for each in (node, pad, view) if each}
    if window is None or pad is None or pads is None or len(places) > 1:
        yield node
        return
    (top, bottom), (left, right) = pads
    own = explicit(window.attrs.padding)
    padding = (own[0] + top, own[1] + left, own[2] + bottom, own[3] + right)
    # Each of the two fits the limit of convolutions, but their sum need not.
    if max(padding) > MOST or not window.pads_with_zero_point:
        yield node
        return
    name = pad.inputs[0]
    if view is not None:
        batch, height, width, channels = graph.types[node.inputs[0]].shape
        shape = (batch, height - top - bottom, width - left - right, channels)
        source, kind = name, dataclasses.replace(graph.types[name], shape=shape)
        name = changes.tensor(f"{name}#unpadded", kind)
        changes.laid_out[name] = layouts.reshaped(graph, source)
        own_view = dataclasses.replace(view, attrs=ReshapeAttrs(shape))
        yield dataclasses.replace(own_view, inputs=(source,), outputs=(name,))
    attrs = dataclasses.replace(window.attrs, padding=padding)
    yield dataclasses.replace(node, attrs=attrs, inputs=(name, *node.inputs[1:]))


def _spatial_pads(pad: Node, data: Shape, graph: Graph) -> tuple[Pair, Pair] | None:
    """The cells before and after height and width that a pad adds to NHWC data of that shape, with
    the value that a convolution reads as 0; None if it adds others."""
    if not isinstance(pad.attrs, PadAttrs):
        return None
    before, after = graph.type_of((*pad.inputs[:1], *pad.outputs))
    if before.quant != after.quant or pad.attrs.value != before.zero:
        return None
    places = Arrangement.same(after.shape).reshaped(data).places()
    if places is None or len(data) != 4:
        return None
    # An axis of size 1 has no place if the pad's result lacks it.
    added = [(0, 0) if place is None else pad.attrs.pads[place] for place in places]
    if sum(map(sum, added)) != sum(map(sum, pad.attrs.pads)) or any(added[0]) or any(added[3]):
        return None
    return added[1], added[2]
