"""Kernels for nn.depthwise_conv2d whose windows are vectors of MVE."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import resolve
from microgen.kernels import base, blocks, lags
from microgen.kernels.depthwise.depthwise_conv2d import COMPACT_LAYER, compact_params
from microgen.kernels.requantization import weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import FLOAT_MVE, TWICE_NARROW, Loop

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 7
RING = 4  # MG_MVE_RING of microgen/depthwise/depthwise_conv2d_s8_ring_mve.h
CHANNELS = 8  # MG_MVE_CHANNELS
WINDOWS = 8  # MG_MVE_WINDOWS
_VECTOR = 16
_STRIDE = 2  # the largest
_OFFSETS = 2**16  # bytes that vectors of 16-bit offsets reach


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axis with more outputs, and the other one. ``ring`` is the number of bytes of a ring."""

    outputs: Pair
    kernel: Pair
    strides: Pair
    pads: Pair

    @property
    def ring(self) -> int:
        # A filter with one value around the ring needs no other values there.
        return 1 if self.kernel[1] == 1 else RING

    @property
    def line(self) -> int:
        """Bytes of a channel's line, see mg_mve_ring_line."""
        return (self.outputs[0] - 1) * self.strides[0] * self.ring + _VECTOR

    @property
    def after(self) -> int:
        """Bytes that are read after a line: of the eights that a line does not fill, and eight."""
        windows = -self.outputs[0] % WINDOWS + WINDOWS
        return windows * self.strides[0] * self.ring


def _axes(node: Node, graph: Graph) -> _Axes:
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    size, kernel = (base.spatial(graph.types[name]) for name in node.inputs[:2])
    outputs = base.spatial(graph.types[node.outputs[0]])
    pads = resolve(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    is_tall = outputs[0] > outputs[1]

    def ordered(pair: Sequence[int]) -> Pair:
        return (pair[0], pair[1]) if is_tall else (pair[1], pair[0])

    return _Axes(*map(ordered, (outputs, kernel, attrs.strides, pads)))


def _apart(node: Node, graph: Graph) -> int:
    """Bytes from the first to the last of eight outputs, or of two times four."""
    _, height, width, channels = graph.types[node.outputs[0]].shape
    along, around = (channels, width * channels)
    if height > width:
        along, around = around, along
    return max((WINDOWS - 1) * along, (WINDOWS // 2 - 1) * along + around)


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal unless a window is a vector."""
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    axes = _axes(node, graph)
    if attrs.dilation != (1, 1) or axes.kernel[0] * axes.ring > _VECTOR or axes.kernel[1] > RING:
        return f"windows are more than a vector of {_VECTOR} bytes"
    if axes.strides[0] > _STRIDE or (axes.ring == RING and axes.strides[0] != axes.strides[1]):
        return f"its strides are {attrs.strides}, the kernel takes 1 and 2"
    if any(pad >= size for pad, size in zip(axes.pads, axes.kernel, strict=True)):
        return "windows are all padding"
    if CHANNELS * axes.line > _OFFSETS:
        return "its lines are too long"
    if _apart(node, graph) >= _OFFSETS:
        return "its outputs are too far apart"
    return blocks.depthwise(node, graph) or blocks.short(compact_params(node, graph))


def _scratch(node: Node, graph: Graph) -> int:
    """The scratch of mg_depthwise_conv2d_s8_ring_mve in bytes: filters and lines."""
    axes = _axes(node, graph)
    return CHANNELS * (_VECTOR + axes.line) + axes.after


def _in_place(node: Node, graph: Graph) -> base.Lags:
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    axes = _axes(node, graph)
    if data.shape == output.shape and axes.strides == (1, 1):
        return {0: 0}  # each place of the data is copied before its outputs are stored
    batches, height, width, _ = data.shape
    _, rows, columns, _ = output.shape
    if rows > columns:
        return {}
    # Before each row of outputs, rows of the input are copied: of pairs, all but one more.
    places = np.arange(rows)
    copied = (places - 1) * axes.strides[1] + axes.kernel[1] - axes.pads[1]
    first = np.where(places == 0, 0, np.clip(copied, 0, height)) * width
    starts = np.arange(batches)[:, None]
    written = starts * rows * columns + places * columns
    return lags.of_pixels(node, graph, written.ravel(), (starts * height * width + first).ravel())


def _has_rings(node: Node, graph: Graph) -> str | None:
    if _axes(node, graph).ring != RING:
        return "its filters have one value along the axis with fewer outputs"
    return _refuses(node, graph)


def _has_lines(node: Node, graph: Graph) -> str | None:
    if _axes(node, graph).ring == RING:
        return "its filters have several values along the axis with fewer outputs"
    return _refuses(node, graph)


_RINGS = weighted.vectors(
    Loop(
        stem="depthwise_conv2d_s8_ring",
        variant=("MG_MVE_RING",),
        refusal=_has_rings,
        scratch=_scratch,
        in_place=_in_place,
        compact=True,
        cores=("mg_mve_ring_compute",),
        sums=RAW,
    )
)
_LINES = dataclasses.replace(
    _RINGS,
    stem="depthwise_conv2d_s8_line",
    variant=("MG_MVE_LINE",),
    refusal=_has_lines,
    cores=("mg_mve_line_compute",),
)

_FLOATS = tuple(map(weighted.in_floats, (_RINGS, _LINES)))

IMPLEMENTATIONS = (
    *COMPACT_LAYER.kernels((_RINGS, _LINES), (TWICE_NARROW,)),
    *COMPACT_LAYER.kernels(_FLOATS, (FLOAT_MVE,)),
)
