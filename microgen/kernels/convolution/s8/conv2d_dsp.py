"""Kernels for nn.conv2d with paired weights, for the Arm DSP extension."""

from __future__ import annotations

import dataclasses
import functools

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.geometry import resolve
from microgen.kernels import base, blocks, lags
from microgen.kernels.convolution import conv2d
from microgen.kernels.requantization import paired, weighted
from microgen.kernels.requantization.weighted import (
    HIGH,
    HIGH_FLOATS,
    HIGH_MIXED,
    TWICE_NARROW,
    UPWARD_NARROW,
    Loop,
    on_stack,
)
from microgen.kernels.work import Work, common

OP_NAME = conv2d.OP_NAME
PRECEDENCE = 1
_PAIR = 2  # channels that are computed at a time


def _refusal(node: Node, graph: Graph) -> str | None:
    return blocks.rows(node, graph) or paired.refusal(node, graph, _PAIR)


def _in_place(node: Node, graph: Graph) -> base.Lags:
    batches, height, width, _ = graph.types[node.outputs[0]].shape
    pixels = height * width
    step = 4 if pixels >= 4 else 1
    # The columns of four pixels are gathered before their results are stored. Each pixel of an
    # image of less than four is gathered on its own.
    starts = (n * pixels + i for n in range(batches) for i in range(0, pixels, step))
    return lags.blocks(node, graph, starts)


def _work(node: Node, graph: Graph) -> Work:
    """Parts of these loops: blocks of four pixels; pairs of channels of each, and their steps;
    values gathered for blocks whose windows are inside the input, and for each window of other
    blocks; single pixels, two pairs of channels of each, and their steps.
    """
    attrs = base.attrs_of(node, Conv2DAttrs)
    inputs, output = base.types(node, graph)
    channels, rows, width, depth = inputs[1].shape
    kernel = (rows, width)
    counts = _blocks(attrs, base.spatial(inputs[0]), base.spatial(output), kernel)
    count, inside, windows, pixels = (output.shape[0] * number for number in counts)
    pairs, steps, run = count * -(-channels // 2), paired.steps(node, graph), width * depth
    blocks_of_4 = pixels * -(-channels // 4)
    return {
        **common(node, graph),
        "block": count,
        **_gathered("block", inside, rows, run),
        "pair": pairs,
        "pair_step": pairs * steps,
        "uneven_pair": pairs * (steps % 4 != 0),
        "window": windows,
        **_gathered("window", windows, rows, run),
        "lone_pixel": pixels,
        "lone_four": blocks_of_4,
        "lone_four_step": blocks_of_4 * steps,
    }


def _single_refusal(node: Node, graph: Graph) -> str | None:
    needed = paired.columns(node, graph)
    if needed <= paired.STACK:  # one pixel at a time would save no memory
        return f"the columns of four pixels need {needed} bytes, which fit the stack"
    return _refusal(node, graph)


def _single_in_place(node: Node, graph: Graph) -> base.Lags:
    batches, height, width, _ = graph.types[node.outputs[0]].shape
    return lags.blocks(node, graph, range(batches * height * width))


def _single_work(node: Node, graph: Graph) -> Work:
    """Parts of the loop of single pixels: values gathered of windows inside the input, and of
    others; pixels, two pairs of channels of each, and their steps."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    inputs, output = base.types(node, graph)
    channels, rows, width, depth = inputs[1].shape
    size, places = base.spatial(inputs[0]), base.spatial(output)
    own = output.shape[0] * places[0] * places[1]
    inner = output.shape[0] * _inner(attrs, size, places, (rows, width))
    steps, run, fours = paired.steps(node, graph), width * depth, own * -(-channels // 4)
    return {
        **common(node, graph),
        "single": inner,
        **_gathered("single", inner, rows, run),
        "window": own - inner,
        **_gathered("window", own - inner, rows, run),
        "lone_pixel": own,
        "lone_four": fours,
        "lone_four_step": fours * steps,
    }


@functools.cache
def _inner(attrs: Conv2DAttrs, size: Pair, places: Pair, kernel: Pair) -> int:
    """The number of pixels of an image whose windows are inside the input."""
    top, left, *_ = resolve(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    counts = []
    for k, before in enumerate((top, left)):
        reach = (kernel[k] - 1) * attrs.dilation[k]
        begins = (i * attrs.strides[k] - before for i in range(places[k]))
        counts.append(sum(0 <= begin <= size[k] - 1 - reach for begin in begins))
    return counts[0] * counts[1]


def _gathered(name: str, count: int, rows: int, run: int) -> dict[str, int]:
    return {
        f"{name}_row": count * rows,
        f"{name}_word": count * rows * (run // 4),
        f"{name}_left": count * rows * (run % 4),
    }


@functools.cache
def _blocks(attrs: Conv2DAttrs, size: Pair, places: Pair, kernel: Pair) -> tuple[int, ...]:
    """Blocks of four pixels of an image, blocks whose windows are all inside the input and gathered
    together, windows that are gathered one by one, and remaining pixels.
    """
    pixels = places[0] * places[1]
    if kernel == (1, 1) and attrs.strides == (1, 1) and size == places:
        # The data of a 1x1 kernel is contiguous, so a block of four pixels may span rows.
        size = places = (1, pixels)
    blocks, left = divmod(pixels, 4)
    inside = sum(_is_inside(attrs, size, places, kernel, 4 * n) for n in range(blocks))
    return blocks, inside, 4 * (blocks - inside) + left, left


def _is_inside(attrs: Conv2DAttrs, size: Pair, places: Pair, kernel: Pair, pixel: int) -> bool:
    """Whether a pixel and the three after it are in a row, with windows inside the input."""
    top, left, *_ = resolve(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    y, x = divmod(pixel, places[1])
    row, column = y * attrs.strides[0] - top, x * attrs.strides[1] - left
    right = column + 3 * attrs.strides[1] + kernel[1]
    bottom = row + (kernel[0] - 1) * attrs.dilation[0]
    is_row = x + 3 < places[1] and min(row, column) >= 0
    return is_row and right <= size[1] and bottom < size[0]


_SCRATCH = weighted.dsp(
    Loop(
        stem="conv2d_s8",
        suffix="paired",
        refusal=_refusal,
        scratch=paired.columns,
        sums=paired.SUMS,
        layout=paired.layout(_PAIR),
        in_place=_in_place,
        cores=("mg_paired_block_{}", "mg_paired_pixel_{}"),
        core_parts=("block", "lone_pixel"),
        work=_work,
    )
)
_STACK = dataclasses.replace(
    on_stack(_SCRATCH, paired.STACK, "columns"),
    suffix="paired_stack",
    family="conv2d_s8_paired_stack",
)

# One pixel at a time takes more instructions and a quarter of the memory.
_SINGLE = dataclasses.replace(
    _SCRATCH,
    suffix="single",
    family="conv2d_s8_single",
    refusal=_single_refusal,
    scratch=paired.values,
    in_place=_single_in_place,
    cores=("mg_paired_pixel_{}",),
    core_parts=("lone_pixel",),
    work=_single_work,
)
_ROUNDED = (TWICE_NARROW, UPWARD_NARROW)

IMPLEMENTATIONS = (
    *conv2d.LAYER.kernels((_STACK, _SCRATCH), (*HIGH, *HIGH_MIXED, *_ROUNDED, *HIGH_FLOATS)),
    *conv2d.LAYER.kernels((_SINGLE,), (*HIGH, *HIGH_MIXED)),
)
