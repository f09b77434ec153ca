"""The rows of its inputs on which a row of a node's result depends: rows are NHWC's second axis."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Attrs, DType, Graph, Node
from microgen.graph.ops import BY_ELEMENT
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit, extent
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.window import spatial

_ELEMENTWISE = (*BY_ELEMENT, "lookup", "qnn.add", "qnn.mul", "qnn.subtract")

_MOST_SUMMED = 256  # values of a window: their sum is at least 256 * -128, the least int16


@dataclass(frozen=True, slots=True)
class RowWindow:
    """A receptive field in rows."""

    extent: int = 1  # rows of the input on which a row of the result depends
    stride: int = 1  # rows of the input from one row of the result to the next
    above: int = 0  # row r of the result depends on rows from ``stride`` * r - ``above`` on
    fill: int = 0  # the value of all elements of rows outside the input, which are padding

    def rows(self, count: int) -> int:
        """The number of rows on which ``count`` consecutive rows of the result depend."""
        return self.extent + (count - 1) * self.stride


@dataclass(frozen=True, slots=True)
class ByRows:
    """A node whose rows can be computed one after another."""

    windows: Mapping[int, RowWindow]  # of the inputs that have rows, by position
    attrs: Attrs  # the node's, for rows that contain their padding
    is_summed: bool = False  # There is one result, which is complete when all rows were added.


def of(node: Node, graph: Graph) -> ByRows | None:
    """The windows of a node, or None if its rows cannot be computed one after another."""
    rule = _RULES.get(type(node.attrs)) or (_elementwise if node.op in _ELEMENTWISE else None)
    kinds = graph.type_of((*node.outputs, *node.inputs[:1]))
    # Nodes with a target or an external function are not computed by the built-in kernels.
    if rule is None or any(node.place) or len(node.outputs) > 1:
        return None
    # Rows are the second of four axes, and one image has them one after another.
    if not all(len(kind.shape) == 4 and kind.shape[0] == 1 and kind.size for kind in kinds):
        return None
    return rule(node, graph)


def _elementwise(node: Node, graph: Graph) -> ByRows | None:
    shape = graph.types[node.outputs[0]].shape
    by_position = {}
    for position, name in enumerate(node.inputs):
        if name not in graph.constants:
            by_position[position] = RowWindow()
            if graph.types[name].shape != shape:
                return None
        # A constant with rows or columns of its own would have to advance with the rows.
        elif any(size > 1 for size in graph.types[name].shape[-3:-1]):
            return None
    return ByRows(by_position, node.attrs)


def _convolution(node: Node, graph: Graph) -> ByRows | None:
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    if any(name not in graph.constants for name in node.inputs[1:]):
        return None
    kind, kernel = graph.types[node.inputs[0]], spatial(graph.types[node.inputs[1]].shape)
    if kind.zero and kind.dtype.nbytes > 1:  # rows are filled with one byte repeated
        return None
    rows, _ = extent(kernel, attrs.dilation)
    above, left, _, right = explicit(attrs.padding)
    window = RowWindow(rows, attrs.strides[0], above, kind.zero)
    return ByRows({0: window}, dataclasses.replace(attrs, padding=(0, left, 0, right)))


def _max_pool(node: Node, graph: Graph) -> ByRows | None:
    attrs, kind = node.attrs, graph.types[node.inputs[0]]
    assert isinstance(attrs, MaxPool2DAttrs)
    above, left, below, right = explicit(attrs.padding)
    # The least value of other dtypes is not one byte repeated, with which buffers are filled.
    if (above or below) and kind.dtype is not DType.INT8:
        return None
    least = int(np.iinfo(np.int8).min)
    window = RowWindow(attrs.pool_size[0], attrs.strides[0], above, least)
    return ByRows({0: window}, dataclasses.replace(attrs, padding=(0, left, 0, right)))


def _avg_pool(node: Node, _graph: Graph) -> ByRows | None:
    attrs = node.attrs
    assert isinstance(attrs, AvgPool2DAttrs)
    above, _, below, _ = explicit(attrs.padding)
    # Padding does not count in a mean, so it cannot be filled with any value.
    if above or below:
        return None
    return ByRows({0: RowWindow(attrs.pool_size[0], attrs.strides[0])}, attrs)


def summed(node: Node, graph: Graph) -> ByRows | None:
    """The windows of a node with one result for the whole height, to which kernels add a few rows
    in each step; None for other nodes. Only means of int8 whose sums fit int16 are such nodes.
    """
    attrs, kind = node.attrs, graph.types[node.inputs[0]]
    if isinstance(attrs, MeanAttrs):
        return _mean(node, graph)
    if not isinstance(attrs, AvgPool2DAttrs) or of(node, graph) is None:
        return None
    is_whole = attrs.pool_size == spatial(kind.shape) and not any(explicit(attrs.padding))
    is_small = kind.dtype is DType.INT8 and np.prod(attrs.pool_size) <= _MOST_SUMMED
    return ByRows({0: RowWindow()}, attrs, is_summed=True) if is_whole and is_small else None


def _mean(node: Node, graph: Graph) -> ByRows | None:
    attrs, kind = node.attrs, graph.types[node.inputs[0]]
    assert isinstance(attrs, MeanAttrs)
    is_image = len(kind.shape) == 4 and kind.shape[0] == 1 and not any(node.place)
    if not is_image or attrs.axes != (1, 2) or kind.dtype is not DType.INT8:
        return None
    if kind.shape[1] * kind.shape[2] > _MOST_SUMMED:
        return None
    whole = dataclasses.replace(attrs, rows=kind.shape[1])
    return ByRows({0: RowWindow()}, whole, is_summed=True)


_RULES: Mapping[type[Attrs], Callable[[Node, Graph], ByRows | None]] = {
    AvgPool2DAttrs: _avg_pool,
    Conv2DAttrs: _convolution,
    DepthwiseConv2DAttrs: _convolution,
    MaxPool2DAttrs: _max_pool,
}
