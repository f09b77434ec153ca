"""Kernels for nn.conv2d that compute three pixels with two multiplications a weight, for cores
without SIMD instructions."""

from __future__ import annotations

import dataclasses

from microgen.ir.graph import Graph, Node
from microgen.kernels import blocks, interleave, window
from microgen.kernels.conv2d import LAYER
from microgen.kernels.weighted import LINEAR, TWICE_NARROW, UPWARD_NARROW, Loop
from microgen.kernels.work import Work, work
from microgen.ops.conv2d import Conv2DAttrs

OP_NAME = "nn.conv2d"
_TRIO = 8  # bytes of an mg_trio


def _scratch(node: Node, graph: Graph) -> int:
    """A trio for each weight of a filter."""
    weight = graph.types[node.inputs[1]]
    return _TRIO * (weight.size // weight.shape[0])


def _double_scratch(node: Node, graph: Graph) -> int:
    return 2 * _scratch(node, graph)


_TRIOS = Loop(
    stem="conv2d_s8",
    suffix="trios",
    family="conv2d_s8_trios",
    variant=("MG_FOUR_CHANNELS",),
    refusal=blocks.rows,
    scratch=_scratch,
    is_raw=True,
    layout=interleave.by_fours,
)
_SIXES = dataclasses.replace(
    _TRIOS, suffix="sixes", variant=("MG_SIX_PIXELS",), scratch=_double_scratch, layout=None
)


def _work(node: Node, graph: Graph) -> Work:
    """Parts of the loops, for groups of three pixels; docs/costs.md describes them."""
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    weight = graph.types[node.inputs[1]]
    filters, height, width, depth = weight.shape
    size = height * width * depth
    inside = window.whole(node, graph)
    pixels = len(inside)
    clipped = sum(not all(inside[i : i + 3]) for i in range(0, pixels, 3))
    groups, blocks_of_64 = -(-pixels // 3), -(-size // 64)
    sixes = -(-pixels // 6) * filters
    fours, rest = groups * (filters // 4), groups * (filters % 4)
    return {
        **work(node, graph),
        "trio": groups,
        "trio_line": (groups - clipped) * height,
        "trio_value": (groups - clipped) * size,
        "trio_clipped": clipped,
        "trio_clipped_line": clipped * height,
        "trio_clipped_value": clipped * size,
        "four_channels_block": fours * blocks_of_64,
        "four_channels_value": fours * size,
        "four_channels_left": fours * (size % 4),
        "one_channel_block": rest * blocks_of_64,
        "one_channel_value": rest * size,
        "six_pixels_block": sixes * blocks_of_64,
        "six_pixels_value": sixes * size,
        "six_pixels_left": sixes * (size % 4),
    }


IMPLEMENTATIONS = tuple(
    dataclasses.replace(kernel, work=_work)
    for kernel in LAYER.kernels((_TRIOS, _SIXES), (LINEAR, TWICE_NARROW, UPWARD_NARROW))
)
