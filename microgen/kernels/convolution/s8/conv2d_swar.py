"""Kernels for nn.conv2d with SIMD within a register (SWAR), for cores without SIMD instructions:
three pixels with two multiplications a weight."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic.blocks import by_channels
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base, blocks, lags, window
from microgen.kernels.constant import Arguments, WeightLayout
from microgen.kernels.convolution.conv2d import LAYER
from microgen.kernels.identity import KEPT, Same
from microgen.kernels.requantization import layouts, transforms
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import (
    FLOATS,
    LINEAR,
    TWICE_NARROW,
    UPWARD_NARROW,
    Loop,
)
from microgen.kernels.work import Work, work

OP_NAME = "nn.conv2d"
PRECEDENCE = 5
_PACKED = 8  # bytes of the values of three pixels, an mg_swar


_BIAS = 2**20 - 2**12  # MG_SWAR_BIAS
_MOST = 2**15 - 4  # a multiple of 4 in an int16 parameter
_SAFE = 64  # any 64 products of int8 values fit


def _fits(weight: Array, block: int) -> bool:
    """Whether the sums of products of a channel's weights with int8 values, which begin anew after
    ``block`` products, fit the words."""
    starts = range(0, weight.size // len(weight), block)

    def ends(rows: Array) -> Array:
        each = np.minimum(rows * 127, rows * -128), np.maximum(rows * 127, rows * -128)
        lowest, highest = (np.add.reduceat(one, starts, axis=1) for one in each)
        return np.stack([lowest.min(axis=1), highest.max(axis=1)])

    lowest, highest = by_channels(weight, 0, ends)
    return bool(lowest.min() >= -_BIAS and highest.max() < 2**21 - _BIAS)


@functools.lru_cache(maxsize=KEPT)
def _block_of(weight: Same[Array]) -> int:
    products = weight.value.size // len(weight.value)
    for parts in range(1, -(-products // _SAFE)):
        # A multiple of 4, because the loops take four weights at a time.
        block = -(-products // (4 * parts)) * 4
        if block <= _MOST and _fits(weight.value, block):
            return block
    return _SAFE


def _block(node: Node, graph: Graph) -> int:
    """The largest block that fits, has at most 2^15 - 4 products, and makes all parts about equally
    long.
    """
    weight = graph.constants[node.inputs[1]]
    return _block_of(Same(weight))


def _shape(node: Node, graph: Graph) -> base.Fields:
    """The fields of the reference kernel, without fields that are 1 or equal to another field."""
    implied = ("filter_channels", "dilation_width")
    return tuple(field for field in LAYER.params(node, graph) if field[0] not in implied)


def _params(node: Node, graph: Graph) -> base.Fields:
    return (*_shape(node, graph), ("block", _block(node, graph)))


def _refusal(node: Node, graph: Graph) -> str | None:
    return blocks.rows(node, graph) or blocks.short(_shape(node, graph))


def _arguments(node: Node, graph: Graph, *, interleaved: int) -> Arguments:
    return (("block", _block(node, graph)), ("interleaved", interleaved))


def _layout(*, interleaved: int) -> WeightLayout:
    arguments = functools.partial(_arguments, interleaved=interleaved)
    return WeightLayout("swar_weights", arguments=arguments)


# swar_weights: a weight of int8, whose first axis is the one of output channels. int8 [weights].
# ``block``: the products of a channel after which its sums are split; they must fit the words of
# crt/include/microgen/convolution/s8/swar_s8.h up to there, for all data. ``interleaved``: 1 for
# the layout of interleave_4, 0 for the model's.
def _swar_weights(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    # The block is an argument that verify reads from the manifest, so its limit is proven again.
    if not _fits(weight, int(arguments["block"])):
        raise ValueError("sums of products do not fit the words")
    return layouts.interleaved(weight) if arguments["interleaved"] else weight.ravel()


TRANSFORMS: Mapping[str, transforms.Function] = {"swar_weights": _swar_weights}


def _scratch(node: Node, graph: Graph) -> int:
    """The packed values of three pixels for each weight of a filter."""
    weight = graph.types[node.inputs[1]]
    return _PACKED * (weight.size // weight.shape[0])


def _double_scratch(node: Node, graph: Graph) -> int:
    return 2 * _scratch(node, graph)


def _in_place(node: Node, graph: Graph, *, group: int) -> base.Lags:
    pixels = math.prod(graph.types[node.outputs[0]].shape[:3])
    # The windows of a group of pixels are packed before their results are stored.
    return lags.blocks(node, graph, range(0, pixels, group))


def _work(node: Node, graph: Graph) -> Work:
    """Parts of the loops, for groups of three pixels; docs/explanation/costs.md describes them."""
    weight = graph.types[node.inputs[1]]
    filters, height, width, depth = weight.shape
    size = height * width * depth
    inside = window.whole(node, graph)
    pixels = len(inside)
    clipped = sum(not all(inside[i : i + 3]) for i in range(0, pixels, 3))
    groups, parts = -(-pixels // 3), -(-size // _block(node, graph))
    tiles_6x1 = -(-pixels // 6) * filters
    tiles_3x4, tiles_3x1 = groups * (filters // 4), groups * (filters % 4)
    return {
        **work(node, graph),
        "swar": groups,
        "swar_line": (groups - clipped) * height,
        "swar_value": (groups - clipped) * size,
        "swar_clipped": clipped,
        "swar_clipped_line": clipped * height,
        "swar_clipped_value": clipped * size,
        "four_channels_block": tiles_3x4 * parts,
        "four_channels_value": tiles_3x4 * size,
        "four_channels_left": tiles_3x4 * (size % 4),
        "one_channel_block": tiles_3x1 * parts,
        "one_channel_value": tiles_3x1 * size,
        "six_pixels_block": tiles_6x1 * parts,
        "six_pixels_value": tiles_6x1 * size,
        "six_pixels_left": tiles_6x1 * (size % 4),
    }


_PACKING = tuple(f"mg_swar_{part}" for part in ("pack", "fill", "put"))
_TILES_3X4 = Loop(
    stem="conv2d_s8",
    suffix="swar_3x4",
    family="conv2d_s8_swar",
    variant=("MG_SWAR_3X4",),
    compact=True,
    refusal=_refusal,
    scratch=_scratch,
    in_place=functools.partial(_in_place, group=3),
    cores=(*_PACKING, "mg_swar_add_3x4"),
    sums=RAW,
    layout=_layout(interleaved=1),
    work=_work,
)
_TILES_6X1 = dataclasses.replace(
    _TILES_3X4,
    suffix="swar_6x1",
    variant=("MG_SWAR_6X1",),
    scratch=_double_scratch,
    in_place=functools.partial(_in_place, group=6),
    cores=(*_PACKING, "mg_swar_add_6x1"),
    layout=_layout(interleaved=0),
)

IMPLEMENTATIONS = tuple(
    dataclasses.replace(LAYER, params=_params).kernels(
        (_TILES_3X4, _TILES_6X1), (LINEAR, TWICE_NARROW, UPWARD_NARROW, *FLOATS)
    )
)
