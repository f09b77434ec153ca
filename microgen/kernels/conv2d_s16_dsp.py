"""Kernels for nn.conv2d in int16, for the DSP extension."""

from __future__ import annotations

import math

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, blocks, mve, wide, window

OP_NAME = "nn.conv2d"


def _refusal(node: Node, graph: Graph) -> str | None:
    filters = graph.types[node.inputs[1]].shape[0]
    return wide.refusal(node, graph, 0, filters) or mve.one_group(node, graph)


def _refuses_pointwise(node: Node, graph: Graph) -> str | None:
    refusal = _refusal(node, graph) or blocks.pointwise(node, graph)
    depth = graph.types[node.inputs[0]].shape[3]
    if refusal is None and depth % wide.FOUR:
        return f"there are {depth} input channels, the kernel takes multiples of {wide.FOUR}"
    return refusal


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    return (wide.pairs(node), *wide.folded(node, graph, graph.types[node.inputs[1]].shape[0]))


def _scratch(node: Node, graph: Graph) -> int:
    """Two windows."""
    size = math.prod(graph.types[node.inputs[1]].shape[1:])
    return 2 * 2 * (-(-size // wide.FOUR) * wide.FOUR)


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_conv2d_1x1_s16_dsp",
        needs=base.DSP,
        refusal=_refuses_pointwise,
        params=window.shaped_fields,
        constants=_constants,
    ),
    base.Implementation(
        symbol="mg_conv2d_s16_dsp",
        needs=base.DSP,
        refusal=_refusal,
        params=window.shaped_fields,
        constants=_constants,
        scratch=_scratch,
    ),
)
