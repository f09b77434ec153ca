"""Kernels for nn.conv2d in int16, for MVE and the DSP extension."""

from __future__ import annotations

import functools
import math

import numpy as np

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.kernels import base, blocks, lags, mve
from microgen.kernels.requantization import layouts, wide
from microgen.kernels.work import Work, seen, work

OP_NAME = "nn.conv2d"
PRECEDENCE = 4

_BYTES = 2  # of a value
_DSP_PIXELS, _MVE_PIXELS, _TILE_PIXELS = 2, 3, 4  # whose windows are copied; 3 in tiles for DSP


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


def _tile_work(node: Node, graph: Graph, together: int, vector: int) -> Work:
    """The parts of windows, and of the loops over tiles of pixels that are computed ``together``:
    tiles; their pairs of channels, and the vectors (or words) of these; windows that are copied
    one by one, their rows, and values; the same for tiles whose windows are copied at once."""
    channels, rows, *run = graph.types[node.inputs[1]].shape
    pixels = math.prod(graph.types[node.outputs[0]].shape[:3])
    count = -(-pixels // together)
    pairs = count * -(-channels // 2)
    # A row of pixels in memory needs no copies if vectors may begin anywhere.
    in_place = vector == layouts.VECTOR and blocks.pointwise(node, graph) is None
    at_once = 0 if in_place else _at_once(node, graph, together)
    single = 0 if in_place else pixels - at_once * together
    return {
        **work(node, graph),
        "block": count,
        "channel_pair": pairs,
        "channel_pair_vector": pairs * -(-_size(node, graph) // vector),
        "copied_window": single,
        "copied_window_row": single * rows,
        "copied_window_vector": single * rows * -(-math.prod(run) // vector),
        "copied_tile": at_once,
        "copied_tile_row": at_once * rows,
        "copied_tile_vector": at_once * rows * -(-math.prod(run) // vector),
    }


def _at_once(node: Node, graph: Graph, together: int) -> int:
    """Tiles whose pixels are in one row, with all columns of their windows inside the input."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    (data, weight, *_), output = base.types(node, graph)
    shapes = (base.spatial(data), base.spatial(output), base.spatial(weight))
    _, columns = seen(attrs.padding, *shapes, attrs.strides, attrs.dilation)
    width = output.shape[2]
    is_whole = np.array(columns) == shapes[2][1]
    at = np.arange(0, math.prod(output.shape[:3]) - together + 1, together) % width
    at = at[at + together <= width]
    return int(np.count_nonzero(is_whole[at] & is_whole[at + together - 1]))


def _windows(node: Node, graph: Graph, pixels: int) -> int:
    size = -(-_size(node, graph) // layouts.WORD) * layouts.WORD
    return pixels * _BYTES * size


def _vector_windows(node: Node, graph: Graph) -> int:
    return _MVE_PIXELS * _BYTES * _size(node, graph)


def _of_copied(node: Node, graph: Graph, together: int) -> base.Lags:
    pixels = math.prod(graph.types[node.outputs[0]].shape[:3])
    # The windows of these pixels are copied before their results are stored.
    return lags.blocks(node, graph, range(0, pixels, together))


_vectors = functools.partial(wide.convolution, needs=base.MVE, axis=0)
_tiles = functools.partial(wide.convolution, needs=base.MVE, axis=0, layout=layouts.VECTORS)
_pairs = functools.partial(wide.convolution, needs=base.DSP, axis=0, layout=layouts.PAIRS)
# The tiles of three pixels.
_three = functools.partial(
    wide.convolution,
    needs=base.DSP,
    axis=0,
    scratch=functools.partial(_windows, pixels=_MVE_PIXELS),
    in_place=functools.partial(_of_copied, together=_MVE_PIXELS),
    counts=functools.partial(_tile_work, together=_MVE_PIXELS, vector=layouts.WORD),
)

IMPLEMENTATIONS = (
    _vectors("mg_conv2d_1x1_s16_mve", _refuses_pointwise),
    _tiles(
        "mg_conv2d_s16_tiles_mve",
        _refuses_one_filter,
        scratch=_tile_windows,
        cores=("mg_mve_wide_tiles",),
        counts=functools.partial(_tile_work, together=_TILE_PIXELS, vector=layouts.VECTOR),
    ),
    _vectors("mg_conv2d_s16_mve", _refusal, scratch=_vector_windows),
    _pairs("mg_conv2d_1x1_s16_dsp", _refuses_odd_depth),
    # It takes fewer cycles and instructions than the next one, but more flash. The cycles differ by
    # less than estimates can tell, so that the first one is taken for speed.
    _three(
        "mg_conv2d_s16_words_dsp",
        _refusal,
        layout=layouts.WIDE_PAIRS,
        cores=("mg_dsp_words_tiles",),
    ),
    _three("mg_conv2d_s16_tiles_dsp", _refusal, layout=layouts.PAIRS, cores=("mg_dsp_wide_tiles",)),
    _three(
        "mg_conv2d_s16_doubles_dsp",
        _refusal,
        layout=layouts.WIDE_PAIRS,
        cores=("mg_dsp_doubles_tiles",),
    ),
    _pairs(
        "mg_conv2d_s16_dsp",
        _refusal,
        scratch=functools.partial(_windows, pixels=_DSP_PIXELS),
        in_place=functools.partial(_of_copied, together=_DSP_PIXELS),
    ),
)
