"""Kernels for nn.conv2d in int16, for MVE and the DSP extension."""

from __future__ import annotations

import math

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, blocks, mve, wide, window

OP_NAME = "nn.conv2d"

_BYTES = 2  # of a value
_DSP_PIXELS, _MVE_PIXELS = 2, 3  # whose windows are copied


def _filters(node: Node, graph: Graph) -> tuple[int, int]:
    """The number of filters, and of weights of one."""
    filters, *shape = graph.types[node.inputs[1]].shape
    return filters, math.prod(shape)


def _refusal(node: Node, graph: Graph) -> str | None:
    filters, _ = _filters(node, graph)
    return wide.refusal(node, graph, 0, filters) or mve.one_group(node, graph)


def _refuses_pointwise(node: Node, graph: Graph) -> str | None:
    return _refusal(node, graph) or blocks.pointwise(node, graph)


def _refuses_odd_depth(node: Node, graph: Graph) -> str | None:
    depth = graph.types[node.inputs[0]].shape[3]
    refusal = _refuses_pointwise(node, graph)
    if refusal is None and depth % wide.FOUR:
        return f"there are {depth} input channels, the kernel takes multiples of {wide.FOUR}"
    return refusal


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    return (wide.pairs(node), *wide.folded(node, graph, _filters(node, graph)[0]))


def _vector_constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    weight = base.KernelConstant("weight", "int8_t", node.inputs[1])
    return (weight, *wide.folded(node, graph, _filters(node, graph)[0]))


def _windows(node: Node, graph: Graph) -> int:
    size = -(-_filters(node, graph)[1] // wide.FOUR) * wide.FOUR
    return _DSP_PIXELS * _BYTES * size


def _vector_windows(node: Node, graph: Graph) -> int:
    return _MVE_PIXELS * _BYTES * _filters(node, graph)[1]


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_conv2d_1x1_s16_mve",
        needs=base.MVE,
        refusal=_refuses_pointwise,
        params=window.shaped_fields,
        constants=_vector_constants,
    ),
    base.Implementation(
        symbol="mg_conv2d_s16_mve",
        needs=base.MVE,
        refusal=_refusal,
        params=window.shaped_fields,
        constants=_vector_constants,
        scratch=_vector_windows,
    ),
    base.Implementation(
        symbol="mg_conv2d_1x1_s16_dsp",
        needs=base.DSP,
        refusal=_refuses_odd_depth,
        params=window.shaped_fields,
        constants=_constants,
    ),
    base.Implementation(
        symbol="mg_conv2d_s16_dsp",
        needs=base.DSP,
        refusal=_refusal,
        params=window.shaped_fields,
        constants=_constants,
        scratch=_windows,
    ),
)
