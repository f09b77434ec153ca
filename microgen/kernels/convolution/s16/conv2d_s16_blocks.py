"""Kernels for nn.conv2d in int16, for MVE and the DSP extension."""

from __future__ import annotations

import functools
import math

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base, blocks, lags, mve
from microgen.kernels.requantization import layouts, wide
from microgen.kernels.work import Work, work

OP_NAME = "nn.conv2d"
PRECEDENCE = 4

_BYTES = 2  # of a value
_DSP_PIXELS, _MVE_PIXELS, _TILE_PIXELS = 2, 3, 4  # whose windows are copied


def _size(node: Node, graph: Graph) -> int:
    """The number of weights of a filter."""
    return math.prod(graph.types[node.inputs[1]].shape[1:])


def _refusal(node: Node, graph: Graph) -> str | None:
    return wide.refusal(node, graph, 0) or mve.one_group(node, graph)


def _refuses_pointwise(node: Node, graph: Graph) -> str | None:
    return _refusal(node, graph) or blocks.pointwise(node, graph)


def _refuses_odd_depth(node: Node, graph: Graph) -> str | None:
    depth = graph.types[node.inputs[0]].shape[3]
    refusal = _refuses_pointwise(node, graph)
    if refusal is None and depth % layouts.WORD:
        return f"there are {depth} input channels, the kernel takes multiples of {layouts.WORD}"
    return refusal


def _refuses_one_filter(node: Node, graph: Graph) -> str | None:
    if graph.types[node.inputs[1]].shape[0] == 1:
        return "there is one output channel, the kernel computes two at a time"
    return _refusal(node, graph)


def _tile_windows(node: Node, graph: Graph) -> int:
    return _TILE_PIXELS * _BYTES * -(-_size(node, graph) // layouts.VECTOR) * layouts.VECTOR


def _tile_work(node: Node, graph: Graph) -> Work:
    """The parts of windows, and of the loops over tiles: blocks of four pixels; their pairs of
    channels, and the vectors of these; windows that are copied, their rows, and the vectors of
    these."""
    channels, rows, *run = graph.types[node.inputs[1]].shape
    pixels = math.prod(graph.types[node.outputs[0]].shape[:3])
    count = -(-pixels // _TILE_PIXELS)
    pairs = count * -(-channels // 2)
    return {
        **work(node, graph),
        "block": count,
        "channel_pair": pairs,
        "channel_pair_vector": pairs * -(-_size(node, graph) // layouts.VECTOR),
        "copied_window": pixels,
        "copied_window_row": pixels * rows,
        "copied_window_vector": pixels * rows * -(-math.prod(run) // layouts.VECTOR),
    }


def _windows(node: Node, graph: Graph) -> int:
    size = -(-_size(node, graph) // layouts.WORD) * layouts.WORD
    return _DSP_PIXELS * _BYTES * size


def _vector_windows(node: Node, graph: Graph) -> int:
    return _MVE_PIXELS * _BYTES * _size(node, graph)


def _of_copied(node: Node, graph: Graph) -> base.Lags:
    pixels = math.prod(graph.types[node.outputs[0]].shape[:3])
    # The windows of these pixels are copied before their results are stored.
    return lags.blocks(node, graph, range(0, pixels, _DSP_PIXELS))


_vectors = functools.partial(wide.convolution, needs=base.MVE, axis=0)
_tiles = functools.partial(wide.convolution, needs=base.MVE, axis=0, layout=layouts.VECTORS)
_pairs = functools.partial(wide.convolution, needs=base.DSP, axis=0, layout=layouts.PAIRS)

IMPLEMENTATIONS = (
    _vectors("mg_conv2d_1x1_s16_mve", _refuses_pointwise),
    _tiles(
        "mg_conv2d_s16_tiles_mve",
        _refuses_one_filter,
        scratch=_tile_windows,
        cores=("mg_mve_wide_tiles",),
        counts=_tile_work,
    ),
    _vectors("mg_conv2d_s16_mve", _refusal, scratch=_vector_windows),
    _pairs("mg_conv2d_1x1_s16_dsp", _refuses_odd_depth),
    _pairs("mg_conv2d_s16_dsp", _refusal, scratch=_windows, in_place=_of_copied),
)
