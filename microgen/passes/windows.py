"""Nodes that slide a window over height and width, as padding passes see them."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.ir.graph import Graph, Node
from microgen.ops.avg_pool2d import AvgPool2DAttrs
from microgen.ops.base import Pads, Pair
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.ops.geometry import resolve
from microgen.ops.max_pool2d import MaxPool2DAttrs

WindowAttrs = Conv2DAttrs | DepthwiseConv2DAttrs | AvgPool2DAttrs | MaxPool2DAttrs


@dataclass(frozen=True, slots=True)
class Window:
    """A node's window: its attributes, the spatial input size, window size and dilation."""

    attrs: WindowAttrs
    data: Pair
    size: Pair
    dilation: Pair

    @property
    def pads_with_zero_point(self) -> bool:
        """Whether the node reads cells outside the data as real zero (pooling skips them)."""
        return isinstance(self.attrs, Conv2DAttrs | DepthwiseConv2DAttrs)


def window_of(node: Node, graph: Graph) -> Window | None:
    """The node's window, or None if it has none."""
    attrs = node.attrs
    shapes = [t.shape for t in graph.type_of(node.inputs)]
    if isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs):
        return Window(attrs, _spatial(shapes[0]), _spatial(shapes[1]), attrs.dilation)
    if isinstance(attrs, AvgPool2DAttrs | MaxPool2DAttrs):
        return Window(attrs, _spatial(shapes[0]), attrs.pool_size, (1, 1))
    return None


def pads_of(window: Window) -> Pads:
    """The window's padding in numbers."""
    return resolve(
        window.attrs.padding, window.data, window.size, window.attrs.strides, window.dilation
    )


def _spatial(shape: tuple[int, ...]) -> Pair:
    return shape[1], shape[2]
