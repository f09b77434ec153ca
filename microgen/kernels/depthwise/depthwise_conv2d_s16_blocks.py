"""Kernels for nn.depthwise_conv2d in int16, for MVE and the DSP extension."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base, blocks, lags
from microgen.kernels.requantization import layouts, wide

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


IMPLEMENTATIONS = (
    wide.convolution("mg_depthwise_conv2d_s16_mve", _refusal, needs=base.MVE, axis=3),
    wide.convolution(
        "mg_depthwise_conv2d_s16_dsp",
        _refuses_odd,
        needs=base.DSP,
        axis=3,
        layout=layouts.SWAPPED,
        in_place=lags.depthwise_by_4,
    ),
)
