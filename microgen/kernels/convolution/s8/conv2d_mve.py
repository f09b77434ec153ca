"""Kernels for nn.conv2d that sum raw products of rows with MVE."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.kernels import base, lags, mve
from microgen.kernels.constant import WeightLayout
from microgen.kernels.convolution.conv2d import LAYER
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import (
    FLOAT_MVE,
    TWICE_NARROW,
    UPWARD_NARROW,
    Loop,
)
from microgen.kernels.work import Work, common, seen

OP_NAME = "nn.conv2d"
PRECEDENCE = 3
_STRIP = 8  # MG_MVE_STRIP of microgen/convolution/s8/conv2d_s8_rows_mve.h
FILTERS = 4  # MG_MVE_FILTERS of microgen/blocks/mve_rows.h
PIXELS = 4  # MG_MVE_PIXELS of microgen/blocks/mve_tiles.h
LEAST = 6  # MG_MVE_LEAST of the same
STACK = 512  # bytes: MG_MVE_STRIP_STACK of microgen/convolution/s8/conv2d_s8_rows_mve.h
_VECTOR = 16  # bytes


def unread(pixels: int, channels: int) -> str | None:
    """Refusal if vectors would be read that begin before all of ``pixels`` that follow each other,
    each of some bytes."""
    if channels % _VECTOR == 0 or (pixels >= PIXELS and channels >= LEAST):
        return None
    return f"{pixels} times {channels} bytes are few, the kernel reads vectors of {_VECTOR}"


def _refuses_pointwise(node: Node, graph: Graph) -> str | None:
    """Refusal unless the kernel is 1x1, in one group; and of small images of few channels."""
    _, height, width, _ = graph.types[node.outputs[0]].shape
    channels = graph.types[node.inputs[0]].shape[3]
    return mve.pointwise(node, graph) or unread(height * width, channels)


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal of groups and of dilated columns."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    if attrs.dilation[1] != 1:
        return f"columns are dilated by {attrs.dilation[1]}, the kernel takes contiguous ones"
    return mve.one_group(node, graph)


def _lines(rows: int, pixels: int) -> int:
    """Rows of pixels whose strips are computed together: four if a row is no whole number of
    tiles."""
    return min(rows, PIXELS) if pixels < _STRIP and pixels % PIXELS else 1


def _strip(node: Node, graph: Graph) -> int:
    """The scratch of mg_conv2d_s8_rows_mve in bytes."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    _, height, width, channels = graph.types[node.inputs[1]].shape
    rows, pixels = graph.types[node.outputs[0]].shape[1:3]
    strip = ((min(pixels, _STRIP) - 1) * attrs.strides[1] + width) * height * channels
    return _lines(rows, pixels) * strip + -(height * width * channels) % _VECTOR


def _usual(_node: Node, _graph: Graph) -> int:
    return _STRIP


def _most(node: Node, graph: Graph) -> int:
    """The pixels of a strip of mg_conv2d_s8_rows_stack_mve."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    _, height, width, channels = graph.types[node.inputs[1]].shape
    row, column = graph.types[node.outputs[0]].shape[2], height * channels
    columns = (STACK - -(column * width) % _VECTOR) // column
    pixels = (columns - width) // attrs.strides[1] + 1
    return pixels // PIXELS * PIXELS if pixels < row else row


def _work(node: Node, graph: Graph, most: Callable[[Node, Graph], int]) -> Work:
    """Passes of four pixels over all filters, tiles of four filters, their vectors; runs of strips,
    their lines, and the vectors that are copied or filled with zero points."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    size = base.spatial(graph.types[node.inputs[0]])
    filters, height, width, depth = graph.types[node.inputs[1]].shape
    batches, rows, pixels, _ = graph.types[node.outputs[0]].shape
    shape = (attrs.padding, size, (rows, pixels), (height, width), attrs.strides, attrs.dilation)
    # Only lines inside of the input are copied; the others, and columns beside it, are filled,
    # which takes a store without a load.
    inside = sum(seen(*shape)[0])  # lines
    strip, lines = most(node, graph), _lines(rows, pixels)
    counts = [min(strip, pixels - x) for x in range(0, pixels, strip)]
    columns = [(count - 1) * attrs.strides[1] + width for count in counts]
    needed = (pixels - 1) * attrs.strides[1] + width
    filled = max(0, needed - size[1]) * inside + sum(columns) * (rows * height - inside)
    together = _VECTOR // depth if 2 * depth <= _VECTOR else 1  # columns that a vector has
    vectors = -(-depth // _VECTOR)
    runs = [min(lines, rows - y) for y in range(0, rows, lines)]
    passes = batches * sum(-(-run * count // PIXELS) for run in runs for count in counts)
    tiles = passes * -(-filters // FILTERS)
    # No other parts: the fit would explain by these what a strip or a tile costs, and would be
    # wrong for layers of few channels.
    return {
        **common(node, graph),
        "vector_pass": passes,
        "vector_tile": tiles,
        "vector_tile_step": tiles * -(-height * width * depth // _VECTOR),
        "vector_run": batches * len(runs) * len(counts),
        "vector_strip": batches * rows * len(counts) * height,
        "vector_column": batches * inside * sum(-(-n // together) for n in columns) * vectors,
        "vector_fill": batches * filled * vectors,
        "several": int(len(counts) > 1),
    }


def _in_place(node: Node, graph: Graph) -> base.Lags:
    """Four pixels are read for each group of filters, whose results are stored before the next
    group."""
    output = graph.types[node.outputs[0]]
    batches, height, width, channels = output.shape
    read = lags.first_read(node, graph).reshape(batches, -1)
    starts = np.arange(0, height * width, PIXELS)
    ends = np.minimum(starts + PIXELS, height * width)
    before = np.arange(batches)[:, None] * (height * width)
    # Filters of the last pixel before the last group, which may overlap with them.
    done = -(-channels // FILTERS) * FILTERS - FILTERS
    written = (before + ends - 1) * channels + done
    return lags.of_steps(node, graph, written.ravel(), read[:, starts].ravel())


def _in_place_of_strips(node: Node, graph: Graph, most: Callable[[Node, Graph], int]) -> base.Lags:
    batches, height, width, _ = graph.types[node.outputs[0]].shape
    strip, lines = most(node, graph), _lines(PIXELS, width)
    starts = (
        (n * height + y) * width + x
        for n in range(batches)
        for y in range(0, height, lines)
        for x in range(0, width, strip)
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
    """The groups of four filters of int8 [filters, weights]. If there are fewer, the last one fills
    the group."""
    missing = max(0, FILTERS - len(filters))
    filters = np.concatenate([filters, *[filters[-1:]] * missing])
    filters = np.pad(filters, ((0, 0), (-filters.shape[1] % _VECTOR, 0)))
    starts = [*range(0, len(filters) - FILTERS + 1, FILTERS)]
    # The last group overlaps the one before it, so that every group has four filters.
    starts += [len(filters) - FILTERS] * (len(filters) % FILTERS > 0)
    order = [start + i for start in starts for i in (0, 2, 1, 3)]
    vectors = filters[order].reshape(len(starts), 2, 2, -1, _VECTOR)
    return np.ascontiguousarray(vectors.transpose(0, 1, 3, 2, 4))


TRANSFORMS: Mapping[str, transforms.Function] = {"tiles": _tiled}

TILES = (
    *("mg_mve_tiles_all", "mg_mve_tiles_begin", "mg_mve_tiles_run"),
    *("mg_mve_tile_compute", "mg_mve_tile_scatter"),
)
_STRIP_CORES = (*TILES, "mg_mve_strip_fill", "mg_mve_strip_lines")
_POINTWISE = weighted.vectors(
    Loop(
        stem="conv2d_1x1_s8_rows",
        refusal=_refuses_pointwise,
        in_place=_in_place,
        cores=TILES,
        sums=RAW,
        layout=WeightLayout("tiles"),
    )
)
_WINDOWS = Loop(
    stem="conv2d_s8_rows",
    refusal=_refuses,
    scratch=_strip,
    in_place=functools.partial(_in_place_of_strips, most=_usual),
    cores=_STRIP_CORES,
    sums=RAW,
    layout=WeightLayout("tiles"),
    work=functools.partial(_work, most=_usual),
)
_STACK = dataclasses.replace(
    weighted.on_stack(_WINDOWS, STACK, "strips"),
    stem="conv2d_s8_rows_stack",
    in_place=functools.partial(_in_place_of_strips, most=_most),
    work=functools.partial(_work, most=_most),
)
_LOOPS = (_POINTWISE, weighted.vectors(_WINDOWS), weighted.vectors(_STACK))


# The tiles' functions ask for the rounding when they run, so it costs nothing else.
ROUNDINGS = (TWICE_NARROW, dataclasses.replace(UPWARD_NARROW, like=TWICE_NARROW))


def _in_floats(loop: Loop) -> Loop:
    """The same loop with scales in float32; it copies strips with the same functions."""
    cores = tuple(f"{core}_float" if core in TILES else core for core in loop.cores)
    return dataclasses.replace(loop, cores=cores)


IMPLEMENTATIONS = (
    *LAYER.kernels(_LOOPS, ROUNDINGS),
    *LAYER.kernels(tuple(map(_in_floats, _LOOPS)), (FLOAT_MVE,)),
)
