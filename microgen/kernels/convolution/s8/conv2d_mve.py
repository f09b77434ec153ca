"""Kernels for nn.conv2d that sum raw products of rows with MVE."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.kernels import base, lags, mve
from microgen.kernels.constant import WeightLayout
from microgen.kernels.convolution.conv2d import LAYER
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import FLOAT_MVE, TWICE_NARROW, Loop

OP_NAME = "nn.conv2d"
PRECEDENCE = 3
_STRIP = 8  # MG_MVE_STRIP of microgen/convolution/s8/conv2d_s8_rows_mve.h
FILTERS = 4  # MG_MVE_FILTERS of microgen/blocks/mve_rows.h
PIXELS = 4  # MG_MVE_PIXELS of microgen/blocks/mve_tiles.h
STACK = 512  # bytes: MG_MVE_STRIP_STACK of microgen/convolution/s8/conv2d_s8_rows_mve.h
_VECTOR = 16  # bytes


def _few(node: Node, graph: Graph) -> str | None:
    filters = graph.types[node.inputs[1]].shape[0]
    if filters < FILTERS:
        return f"there are {filters} output channels, the kernel computes {FILTERS} at a time"
    return None


def _refuses_pointwise(node: Node, graph: Graph) -> str | None:
    """Refusal unless the kernel is 1x1, in one group, with at least four filters."""
    return mve.pointwise(node, graph) or _few(node, graph)


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal of groups, of dilated columns, and of few filters."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    if attrs.dilation[1] != 1:
        return f"columns are dilated by {attrs.dilation[1]}, the kernel takes contiguous ones"
    return mve.one_group(node, graph) or _few(node, graph)


def _strip(node: Node, graph: Graph) -> int:
    """The scratch of mg_conv2d_s8_rows_mve in bytes."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    _, height, width, channels = graph.types[node.inputs[1]].shape
    rows, pixels = graph.types[node.outputs[0]].shape[1:3]
    # If the pixels of a row are not a whole number of tiles, four rows together are.
    lines = min(rows, PIXELS) if pixels < _STRIP and pixels % PIXELS else 1
    strip = ((min(pixels, _STRIP) - 1) * attrs.strides[1] + width) * height * channels
    return lines * strip + -(height * width * channels) % _VECTOR


def _in_place(node: Node, graph: Graph) -> base.Lags:
    """Four pixels are read for each group of filters, whose results are stored before the next
    group."""
    output = graph.types[node.outputs[0]]
    batches, height, width, channels = output.shape
    # The last, overlapping group may be computed after all other results, which would have
    # overwritten its data.
    if channels % FILTERS:
        return {}
    read = lags.first_read(node, graph).reshape(batches, -1)
    starts = np.arange(0, height * width, PIXELS)
    ends = np.minimum(starts + PIXELS, height * width)
    before = np.arange(batches)[:, None] * (height * width)
    written = (before + ends) * channels - FILTERS
    return lags.of_steps(node, graph, written.ravel(), read[:, starts].ravel())


def _in_place_of_strips(node: Node, graph: Graph) -> base.Lags:
    batches, height, width, _ = graph.types[node.outputs[0]].shape
    lines = PIXELS if width < _STRIP and width % PIXELS else 1
    starts = (
        (n * height + y) * width + x
        for n in range(batches)
        for y in range(0, height, lines)
        for x in range(0, width, _STRIP)
    )
    # The windows of a strip are copied before its results are stored.
    return lags.blocks(node, graph, starts)


# tiles: a weight of int8 [filters, height, width, channels]; no arguments. int8 [groups, 2,
# vectors, 2, 16]: of each group of four filters first 0 and 2, then 1 and 3. The weights of a
# filter are in the order [width, height, channels], after zeros that make them whole vectors. The
# last group has the last filters.
def _tiled(sources: Sequence[Array], _arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    return in_tiles(weight.transpose(0, 2, 1, 3).reshape(len(weight), -1))


def in_tiles(filters: Array) -> Array:
    """The groups of four filters of int8 [filters, weights]."""
    filters = np.pad(filters, ((0, 0), (-filters.shape[1] % _VECTOR, 0)))
    starts = [*range(0, len(filters) - FILTERS + 1, FILTERS)]
    # The last group overlaps the one before it, so that every group has four filters.
    starts += [len(filters) - FILTERS] * (len(filters) % FILTERS > 0)
    order = [start + i for start in starts for i in (0, 2, 1, 3)]
    vectors = filters[order].reshape(len(starts), 2, 2, -1, _VECTOR)
    return np.ascontiguousarray(vectors.transpose(0, 1, 3, 2, 4))


TRANSFORMS: Mapping[str, transforms.Function] = {"tiles": _tiled}

_CORES = ("mg_mve_compute_pixels", "mg_mve_tile_deep", "mg_mve_tile_part")
_STRIP_CORES = (*_CORES, "mg_mve_strip_fill", "mg_mve_strip_line")
_POINTWISE = weighted.vectors(
    Loop(
        stem="conv2d_1x1_s8_rows",
        refusal=_refuses_pointwise,
        in_place=_in_place,
        cores=_CORES,
        sums=RAW,
        layout=WeightLayout("tiles"),
    )
)
_WINDOWS = Loop(
    stem="conv2d_s8_rows",
    refusal=_refuses,
    scratch=_strip,
    in_place=_in_place_of_strips,
    cores=_STRIP_CORES,
    sums=RAW,
    layout=WeightLayout("tiles"),
)
_STACK = dataclasses.replace(
    weighted.on_stack(_WINDOWS, STACK, "strips"), stem="conv2d_s8_rows_stack"
)
_LOOPS = (_POINTWISE, weighted.vectors(_WINDOWS), weighted.vectors(_STACK))


def _in_floats(loop: Loop) -> Loop:
    """The same loop with scales in float32; it copies strips with the same functions."""
    cores = tuple(f"{core}_float" if core in _CORES else core for core in loop.cores)
    return dataclasses.replace(loop, cores=cores)


IMPLEMENTATIONS = (
    *LAYER.kernels(_LOOPS, (TWICE_NARROW,)),
    *LAYER.kernels(tuple(map(_in_floats, _LOOPS)), (FLOAT_MVE,)),
)
