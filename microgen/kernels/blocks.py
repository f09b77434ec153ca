"""Requirements of the loops that compute four output channels at a time."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.constraints import largest_sum, weight_zero
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels import base
from microgen.kernels.requantization.sums import largest_sums


def pointwise(node: Node, graph: Graph) -> str | None:
    """Refusal unless the convolution is a matrix product of pixels and weights."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    (data, weight, *_), output = base.types(node, graph)
    if base.spatial(weight) != (1, 1):
        return "the kernel must be 1x1"
    if attrs.strides != (1, 1) or base.spatial(data) != base.spatial(output):
        return "the stride must be 1, without padding"
    return _ungrouped(node, graph)


def rows(node: Node, graph: Graph) -> str | None:
    """Refusal unless each row of a window lies in the input without gaps."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    if attrs.dilation[1] != 1:
        return f"the columns are dilated by {attrs.dilation[1]}, the kernel takes 1"
    return _ungrouped(node, graph)


def offset_rows(node: Node, graph: Graph) -> str | None:
    """As ``rows``, for weights with a zero point, whose products are summed separately."""
    return rows(node, graph) or _separately(node, graph)


def _separately(node: Node, graph: Graph) -> str | None:
    """Refusal if the sum of the bias, of values times weights and of values times the zero point
    may exceed int32."""
    data, weight = graph.type_of(node.inputs[:2])
    values = largest_sum(data, weight.size // weight.shape[0]) // 128
    sums = largest_sums(node, graph, 0).sum(axis=0)
    # The zero point counts twice, because its products are a sum apart from those of the stored
    # weights.
    worst = int(sums.max()) + 2 * abs(weight_zero(weight)) * values
    if worst < 2**31:
        return None
    return f"separate sums may reach {worst}, the kernel's accumulator 2147483647"


def short(fields: base.Fields) -> str | None:
    """Refusal unless all parameters fit 16 bits."""
    for name, value in fields:
        if isinstance(value, int) and not -(2**15) <= value < 2**15:
            return f"{name} is {value:,}, the kernel's parameters have 16 bits"
    return None


def depthwise(node: Node, _graph: Graph) -> str | None:
    """Refusal unless there is one output channel for each input channel."""
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    if attrs.depth_multiplier != 1:
        return f"the depth multiplier is {attrs.depth_multiplier}, the kernel takes 1"
    return None


def _ungrouped(node: Node, graph: Graph) -> str | None:
    data, weight, *_ = graph.type_of(node.inputs)
    groups = data.shape[3] // weight.shape[3]
    return None if groups == 1 else f"the convolution has {groups} groups, the kernel takes 1"
