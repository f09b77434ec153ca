"""Kernel for nn.depthwise_conv2d that computes sixteen channels at a time with MVE."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base, blocks, mve, window
from microgen.kernels.constant import WeightLayout
from microgen.kernels.depthwise.depthwise_conv2d import LAYER, compact_params
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import FLOAT_MVE, TWICE_NARROW, Loop
from microgen.kernels.work import Work, work

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 8
CLIPPED_TAPS = 25  # MG_MVE_CLIPPED_TAPS of microgen/depthwise/depthwise_conv2d_s8_c16_mve.h
_CHANNELS = 16


def _params(node: Node, graph: Graph) -> base.Fields:
    """The compact fields, and the dilation."""
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    layer = tuple((f"layer.{name}", value) for name, value in compact_params(node, graph))
    height, width = attrs.dilation
    return (*layer, ("dilation_height", height), ("dilation_width", width))


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal of fewer channels than a vector has, and of large windows that are clipped."""
    _, height, width, channels = graph.types[node.inputs[1]].shape
    if channels < _CHANNELS:
        return f"there are {channels} channels, the kernel computes {_CHANNELS} at a time"
    if height * width > CLIPPED_TAPS and not all(window.whole(node, graph)):
        return f"windows of {height * width} taps reach beyond the input, the kernel copies " + (
            f"{CLIPPED_TAPS} taps"
        )
    return (
        blocks.depthwise(node, graph)
        or blocks.short(_params(node, graph))
        or mve.depthwise(node, graph)
    )


def _in_place(node: Node, graph: Graph) -> base.Lags:
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    (data, weight, *_), output = base.types(node, graph)
    height, width = base.spatial(output)
    is_apart = weight.shape[2] == 1 and width == data.shape[2]
    is_ordered = height < width or is_apart
    # A result must not overwrite a value that is still needed. Blocks have bytes of their own
    # unless the last one overlaps. If pixels are computed in memory order, each one reads no data
    # before its own results.
    is_free = explicit(attrs.padding)[:2] == (0, 0) and data.shape[3] % _CHANNELS == 0
    return {0: 0} if is_free and is_ordered and data.shape[0] == 1 else {}


def _work(node: Node, graph: Graph) -> Work:
    """The parts that ``work`` counts for all kernels, and for each block of sixteen channels:
    pixels, pairs of taps, single taps, runs of taps, lines of pixels, copied windows, and their
    taps.
    """
    _, height, width, channels = graph.types[node.inputs[1]].shape
    output = graph.types[node.outputs[0]].shape
    whole = window.whole(node, graph)
    inside, copied = sum(whole), len(whole) - sum(whole)
    runs, taps = (1, height) if width == 1 else (height, width)
    counted = work(node, graph)
    parts = {
        "pixel": inside + copied,
        "pair": inside * runs * (taps // 2) + copied * (height * width // 2),
        "single": inside * runs * (taps % 2) + copied * (height * width % 2),
        "run": inside * runs + copied,
        "line": output[0] * min(output[1:3]),
        "window": copied,
        "window_tap": copied * height * width,
        "window_value": counted["pixel_tap"] - inside * height * width,
    }
    count = -(-channels // _CHANNELS)
    return {
        **{name: counted[name] for name in ("call", "output", "clamped", "mac")},
        "c16_block": count,
        **{f"c16_{name}": count * times for name, times in parts.items()},
    }


# c16: a weight of int8 [1, height, width, channels]; no arguments. int8 [blocks, height *
# width, 16]: sixteen channels in each block. The last block has the last sixteen channels, which
# may be in the block before, too.
def _c16(sources: Sequence[Array], _arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    taps, channels = math.prod(weight.shape[:3]), weight.shape[3]
    starts = [*range(0, channels - _CHANNELS, _CHANNELS), channels - _CHANNELS]
    lanes = np.add.outer(starts, np.arange(_CHANNELS))
    return np.ascontiguousarray(weight.reshape(taps, channels)[:, lanes].transpose(1, 0, 2))


TRANSFORMS: Mapping[str, transforms.Function] = {"c16": _c16}

_C16 = weighted.vectors(
    Loop(
        stem="depthwise_conv2d_s8_c16",
        compact=True,
        refusal=_refuses,
        cores=("mg_mve_c16_compute",),
        in_place=_in_place,
        sums=RAW,
        layout=WeightLayout("c16"),
        work=_work,
    )
)

_OWN_LAYER = dataclasses.replace(LAYER, params=_params)

IMPLEMENTATIONS = (
    *_OWN_LAYER.kernels((_C16,), (TWICE_NARROW,)),
    *_OWN_LAYER.kernels((weighted.in_floats(_C16),), (FLOAT_MVE,)),
)
