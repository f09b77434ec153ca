"""Kernels for nn.depthwise_conv2d in int16, for MVE and the DSP extension."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, blocks, wide, window

OP_NAME = "nn.depthwise_conv2d"


def _channels(node: Node, graph: Graph) -> int:
    return graph.types[node.outputs[0]].shape[3]


def _refusal(node: Node, graph: Graph) -> str | None:
    channels = _channels(node, graph)
    refusal = wide.refusal(node, graph, 3, channels) or blocks.depthwise(node, graph)
    if refusal is None and channels < wide.FOUR:
        return f"there are {channels} channels, the kernel takes {wide.FOUR} or more"
    return refusal


def _refuses_odd(node: Node, graph: Graph) -> str | None:
    channels = _channels(node, graph)
    refusal = _refusal(node, graph)
    if refusal is None and channels % wide.FOUR:
        return f"there are {channels} channels, the kernel takes multiples of {wide.FOUR}"
    return refusal


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    weight = base.KernelConstant("weight", "int8_t", node.inputs[1], transform="swapped_fours")
    return (weight, *wide.folded(node, graph, _channels(node, graph)))


def _vector_constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    weight = base.KernelConstant("weight", "int8_t", node.inputs[1])
    return (weight, *wide.folded(node, graph, _channels(node, graph)))


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_depthwise_conv2d_s16_mve",
        needs=base.MVE,
        refusal=_refusal,
        params=window.shaped_fields,
        constants=_vector_constants,
    ),
    base.Implementation(
        symbol="mg_depthwise_conv2d_s16_dsp",
        needs=base.DSP,
        refusal=_refuses_odd,
        params=window.shaped_fields,
        constants=_constants,
    ),
)
