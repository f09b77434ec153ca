"""The numbers that CMSIS-NN's functions get: multipliers, shifts, sums of weights, and the geometry
of convolutions and pools."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import conv_scales, dense_scales, per_channel_multipliers
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.base import Pads, Pair, Shape
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit, extent
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.window import spatial

# The numbers that CMSIS-NN's functions get: multipliers, shifts, sums of weights.


def multipliers(node: Node, graph: Graph) -> tuple[Array, Array]:
    """Q31 multipliers and shifts (positive to the left) of a node with weights, int32: one of each
    per output channel, or one for all in a dense layer whose weights have one scale."""
    data, weight, output = graph.type_of((*node.inputs[:2], *node.outputs))
    rule = dense_scales if node.op == "nn.dense" else conv_scales
    scales = rule(data, weight, output)
    if node.op != "nn.dense":
        scales = np.broadcast_to(scales, output.shape[-1:])
    found, shifts = per_channel_multipliers(scales)
    return found, shifts.astype(np.int32)


def bias(node: Node, graph: Graph) -> Array:
    """The bias, int32 [channels]: zeros if the node has none."""
    if len(node.inputs) > 2:
        return graph.constants[node.inputs[2]]
    # Some of CMSIS-NN's forms add to the pointer, so it cannot be NULL.
    return np.zeros(graph.types[node.outputs[0]].shape[-1:], np.int32)


def kernel_sums(node: Node, graph: Graph) -> Array:
    """The result of ``arm_vector_sum_s8`` for a dense layer: its bias minus the sum of each unit's
    weights times the input's zero point, int32 [units], modulo 2**32."""
    weight = graph.constants[node.inputs[1]].astype(np.int64)
    zero = graph.types[node.inputs[0]].zero_point
    sums: Array = bias(node, graph) - zero * weight.sum(axis=1)
    # The cast keeps the lower 32 bits, as the sum in C does.
    return sums.astype(np.int32)


# The geometry of convolutions and pools in the form of CMSIS-NN.

PoolAttrs = AvgPool2DAttrs | MaxPool2DAttrs


@dataclass(frozen=True, slots=True)
class CmsisWindow:
    """``data`` and ``output`` are NHWC shapes; pairs are (height, width). ``depth`` is the number
    of input channels that a filter reads. The dilation of a kernel of 1 is 1."""

    data: Shape
    output: Shape
    kernel: Pair
    strides: Pair
    dilation: Pair
    pads: Pads
    depth: int

    @property
    def groups(self) -> int:
        """The number of groups of an ordinary convolution."""
        return self.data[3] // self.depth

    @property
    def is_dilated(self) -> bool:
        """Whether it skips cells of the input."""
        return self.dilation != (1, 1)

    @property
    def overshoot(self) -> Pair:
        """The number of rows and columns by which the last window ends after the input; 0 or less
        if it ends within."""
        cover = extent(self.kernel, self.dilation)
        rows, columns = (
            (self.output[1 + i] - 1) * self.strides[i] - self.pads[i] + cover[i] - self.data[1 + i]
            for i in (0, 1)
        )
        return rows, columns


def of(node: Node, graph: Graph) -> CmsisWindow:
    """The window of a convolution or a pool."""
    attrs, data = node.attrs, graph.types[node.inputs[0]].shape
    if isinstance(attrs, PoolAttrs):
        kernel, dilation, depth = attrs.pool_size, (1, 1), 1
    else:
        assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
        weight = graph.types[node.inputs[1]].shape
        kernel, dilation = spatial(weight), _effective(attrs.dilation, spatial(weight))
        depth = weight[3] if isinstance(attrs, Conv2DAttrs) else 1
    pads = explicit(attrs.padding)
    output = graph.types[node.outputs[0]].shape
    return CmsisWindow(data, output, kernel, attrs.strides, dilation, pads, depth)


def _effective(dilation: Pair, kernel: Pair) -> Pair:
    # A kernel of 1 has no gaps, so CMSIS-NN's faster forms may take it.
    height, width = (d if k > 1 else 1 for d, k in zip(dilation, kernel, strict=True))
    return height, width
