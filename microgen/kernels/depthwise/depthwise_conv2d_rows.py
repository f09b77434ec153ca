"""Kernels for nn.depthwise_conv2d that compute three neighbouring pixels of a channel at a time,
for cores without SIMD instructions."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base, blocks, lags
from microgen.kernels.depthwise.depthwise_conv2d import LAYER, compact_params
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import (
    FLOATS,
    LINEAR,
    TWICE_NARROW,
    UPWARD_NARROW,
    Loop,
)
from microgen.kernels.work import Work, work

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 5
_PIXELS = 3
# If the input has one column, its rows are the columns, of the same memory.
_OTHER_AXIS = {"height": "width", "width": "height", "top": "left", "left": "top"}


def _is_column(node: Node, graph: Graph) -> bool:
    """Whether data, windows and result are one column wide, without padding at the sides."""
    data, weight = graph.type_of(node.inputs[:2])
    _, left, _, right = explicit(base.attrs_of(node, DepthwiseConv2DAttrs).padding)
    return data.shape[2] == weight.shape[2] == 1 and not left and not right


def _fields(node: Node, graph: Graph) -> dict[str, int]:
    """The compact fields, with the axes exchanged for a column."""
    fields = {name: value for name, value in compact_params(node, graph) if isinstance(value, int)}
    if not _is_column(node, graph):
        return fields
    return {name: fields[_exchanged(name)] for name in fields}


def _exchanged(name: str) -> str:
    first, _, axis = name.rpartition("_")
    return f"{first}_{_OTHER_AXIS[axis]}" if axis in _OTHER_AXIS else name


def _columns(f: dict[str, int]) -> int:
    return (f["output_width"] - 1) * f["stride_width"] + f["kernel_width"]


def _is_padded(f: dict[str, int]) -> bool:
    rows = (f["output_height"] - 1) * f["stride_height"] + f["kernel_height"]
    reaches = rows > f["input_height"] or _columns(f) > f["input_width"]
    return bool(reaches or f["pad_top"] or f["pad_left"])


def _params(node: Node, graph: Graph) -> base.Fields:
    return tuple(_fields(node, graph).items())


def _refusal(node: Node, graph: Graph) -> str | None:
    if base.attrs_of(node, DepthwiseConv2DAttrs).dilation != (1, 1):
        return "the window is dilated"
    width = graph.types[node.outputs[0]].shape[1 if _is_column(node, graph) else 2]
    if width < _PIXELS:
        return f"rows of the result have {width} pixels, the kernel takes {_PIXELS} or more"
    return blocks.depthwise(node, graph) or blocks.short(_params(node, graph))


def _refuses_padding(node: Node, graph: Graph) -> str | None:
    if _is_padded(_fields(node, graph)):
        return "windows reach beyond the input"
    return _refusal(node, graph)


def _in_place(node: Node, graph: Graph) -> base.Lags:
    f = _fields(node, graph)
    width = f["output_width"]
    starts = np.arange(0, width, _PIXELS)
    lines = np.arange(f["batches"] * f["output_height"])[:, None]
    written = lines * width + starts
    row = lines % f["output_height"] * f["stride_height"]
    row += lines // f["output_height"] * f["input_height"]
    # The last three pixels of a row are computed again if their number is not a multiple of three,
    # so the last tile reads from farther back.
    read = row * f["input_width"] + np.minimum(starts, width - _PIXELS) * f["stride_width"]
    return lags.of_pixels(node, graph, written.ravel(), read.ravel())


def _in_place_of_copied(node: Node, graph: Graph) -> base.Lags:
    f = _fields(node, graph)
    kept = max(0, f["kernel_height"] - f["stride_height"])
    lines = np.arange(f["batches"] * f["output_height"])
    y = lines % f["output_height"]
    row = np.maximum(0, y * f["stride_height"] - f["pad_top"] + kept * (y > 0))
    row = np.minimum(row, f["input_height"]) + lines // f["output_height"] * f["input_height"]
    depth = f["input_channels"]
    written, read = lines * f["output_width"] * depth, row * f["input_width"] * depth
    # Rows of a window that the row of results before has not copied yet are copied before the next
    # result is stored.
    return lags.of_steps(node, graph, written, read)


def _scratch(node: Node, graph: Graph) -> int:
    """As many padded rows as a window has."""
    f = _fields(node, graph)
    return f["kernel_height"] * _columns(f) * f["input_channels"]


def _work(node: Node, graph: Graph) -> Work:
    """Parts of the loops; docs/explanation/costs.md describes them."""
    f = _fields(node, graph)
    lines = f["batches"] * f["output_height"]
    tiles = lines * -(-f["output_width"] // _PIXELS)
    dots = tiles * f["input_channels"]
    rows = dots * f["kernel_height"]
    width, is_dense = f["kernel_width"], f["stride_width"] == 1
    is_counted = (f["kernel_height"], width) != (3, 3) or f["stride_width"] > 2
    kept = max(0, f["kernel_height"] - f["stride_height"])
    copied = lines * (f["kernel_height"] - kept) + f["batches"] * kept
    return {
        **work(node, graph),
        "three_line": lines,
        "three_part": tiles,
        "three": dots,
        "three_row": rows,
        "three_taps": rows * (width // 3) * is_dense,
        "three_tap": rows * (width % 3 if is_dense else width),
        "counted_row": rows * is_counted,
        "counted_tap": rows * width * is_counted,
        "copied_row": copied,
        "copied_value": copied * _columns(f) * f["input_channels"],
        "moved_row": lines * kept,
        "moved_value": lines * kept * _columns(f) * f["input_channels"],
    }


_ROWS = Loop(
    stem="depthwise_conv2d_s8",
    suffix="rows",
    family="depthwise_conv2d_s8_rows",
    compact=True,
    refusal=_refuses_padding,
    in_place=_in_place,
    sums=RAW,
    work=_work,
)
_PADDED_ROWS = dataclasses.replace(
    _ROWS,
    suffix="padded_rows",
    family="depthwise_conv2d_s8_padded_rows",
    refusal=_refusal,
    scratch=_scratch,
    in_place=_in_place_of_copied,
)

IMPLEMENTATIONS = tuple(
    dataclasses.replace(LAYER, params=_params).kernels(
        (_ROWS, _PADDED_ROWS), (LINEAR, TWICE_NARROW, UPWARD_NARROW, *FLOATS)
    )
)
