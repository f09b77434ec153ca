"""Kernels for nn.depthwise_conv2d in int16, for MVE and the DSP extension."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels import base, blocks, lags
from microgen.kernels.requantization import layouts, wide
from microgen.kernels.work import Work, seen, work

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 6


def _channels(node: Node, graph: Graph) -> int:
    return graph.types[node.outputs[0]].shape[3]


def _refusal(node: Node, graph: Graph) -> str | None:
    channels = _channels(node, graph)
    refusal = wide.refusal(node, graph, 3) or blocks.depthwise(node, graph)
    if refusal is None and channels < layouts.WORD:
        return f"there are {channels} channels, the kernel takes {layouts.WORD} or more"
    return refusal


def _refuses_odd(node: Node, graph: Graph) -> str | None:
    channels = _channels(node, graph)
    refusal = _refusal(node, graph)
    if refusal is None and channels % layouts.WORD:
        return f"there are {channels} channels, the kernel takes multiples of {layouts.WORD}"
    return refusal


def _eights(node: Node, graph: Graph) -> Work:
    """The usual parts, and the blocks of channels of all pixels with their rows and taps: eight
    channels at a time, or four if there are fewer than eight."""
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    (data, weight, *_), output = base.types(node, graph)
    shapes = (base.spatial(data), base.spatial(output), base.spatial(weight))
    rows, columns = seen(attrs.padding, *shapes, attrs.strides, attrs.dilation)
    images, channels = output.shape[0], output.shape[3]
    count = -(-channels // (layouts.VECTOR if channels >= layouts.VECTOR else layouts.WORD))
    return {
        **work(node, graph),
        "block_8": images * len(rows) * len(columns) * count,
        "line_8": images * sum(rows) * len(columns) * count,
        "tap_8": images * sum(rows) * sum(columns) * count,
    }


IMPLEMENTATIONS = (
    wide.convolution(
        "mg_depthwise_conv2d_s16_mve", _refusal, needs=base.MVE, axis=3, counts=_eights
    ),
    wide.convolution(
        "mg_depthwise_conv2d_s16_dsp",
        _refuses_odd,
        needs=base.DSP,
        axis=3,
        layout=layouts.SWAPPED,
        in_place=lags.depthwise_by_4,
    ),
)
