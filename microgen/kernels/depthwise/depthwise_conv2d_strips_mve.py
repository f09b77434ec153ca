"""Kernel for nn.depthwise_conv2d with filters of any size that sums sixteen taps at a time with
MVE."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base, lags
from microgen.kernels.constant import Arguments, WeightLayout
from microgen.kernels.depthwise.depthwise_conv2d import LAYER
from microgen.kernels.requantization import transforms, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import FLOAT_MVE, TWICE_NARROW, Loop
from microgen.kernels.work import Work, common

OP_NAME = "nn.depthwise_conv2d"
PRECEDENCE = 4
_CHANNELS = 8  # MG_MVE_STRIP_CHANNELS of microgen/depthwise/depthwise_conv2d_s8_strips_mve.h
_VECTOR = 16
_FOUR = 4  # outputs that are computed at a time
_SHORT = 10  # rows with fewer outputs follow each other,
_ENOUGH = 28  # until they have as many
_MOST_ROWS = 4  # of a strip
_OFFSETS = 2**16  # bytes that vectors of 16-bit offsets reach


@dataclass(frozen=True, slots=True)
class _Strips:
    """The strips of a layer: rows of outputs of each, and strips that follow each other, of which
    one is 1. ``kernel`` and ``strides`` are of rows and columns, ``outputs`` too."""

    kernel: Pair
    strides: Pair
    outputs: Pair

    @property
    def strips(self) -> int:
        height, width = self.outputs
        return min(height, -(-_ENOUGH // width)) if width < _SHORT else 1

    @property
    def rows(self) -> int:
        if self.strips > 1:
            return 1
        least = _vectors(self.kernel[0] * self.kernel[1])
        fitting = (
            n
            for n in range(min(_MOST_ROWS, self.outputs[0]), 1, -1)
            if _vectors(self._lines(n) * self.kernel[1]) == least
        )
        return next(fitting, 1)

    def _lines(self, rows: int) -> int:
        return (rows - 1) * self.strides[0] + self.kernel[0]

    @property
    def lines(self) -> int:
        """Bytes of a column."""
        return self._lines(self.rows)

    @property
    def columns(self) -> int:
        return (self.outputs[1] - 1) * self.strides[1] + self.kernel[1]

    @property
    def vectors(self) -> int:
        """Vectors of a window."""
        return _vectors(self.kernel[1] * self.lines)

    @property
    def channel(self) -> int:
        """Bytes of a channel's strips, and a vector."""
        return self.strips * self.columns * self.lines + _VECTOR

    @property
    def quads(self) -> int:
        """Four outputs at a time of all that are computed together."""
        return -(-self.strips * self.outputs[1] // _FOUR)


def _vectors(count: int) -> int:
    return -(-count // _VECTOR)


def _strips(node: Node, graph: Graph) -> _Strips:
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    kernel = base.spatial(graph.types[node.inputs[1]])
    return _Strips(kernel, attrs.strides, base.spatial(graph.types[node.outputs[0]]))


def _params(node: Node, graph: Graph) -> base.Fields:
    strips = _strips(node, graph)
    layer = tuple((f"layer.{name}", value) for name, value in LAYER.params(node, graph))
    return (*layer, ("rows", strips.rows), ("strips", strips.strips))


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of dilated filters, and of strips that are too long."""
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    if attrs.dilation != (1, 1):
        return f"its filters are dilated by {attrs.dilation}, the kernel takes contiguous ones"
    strips = _strips(node, graph)
    if _CHANNELS * max(strips.channel, strips.lines) > _OFFSETS:
        return f"a channel's strips have {strips.channel} bytes, which is too long"
    return None


def _scratch(node: Node, graph: Graph) -> int:
    """The scratch of mg_depthwise_conv2d_s8_strips_mve in bytes: places and strips."""
    strips = _strips(node, graph)
    return 4 * (_FOUR + 1) * strips.quads + _zeros(node, graph)


def _zeros(node: Node, graph: Graph) -> int:
    """Bytes of strips."""
    channels = 1 if graph.types[node.inputs[0]].shape[3] == 1 else _CHANNELS
    return channels * _strips(node, graph).channel


def _in_place(node: Node, graph: Graph) -> base.Lags:
    """All windows of some rows are copied before the results of the same channels are stored."""
    data, output = graph.types[node.inputs[0]], graph.types[node.outputs[0]]
    strips = _strips(node, graph)
    most = strips.rows * strips.strips
    batches, height, width, channels = output.shape
    if height <= most and data.shape == output.shape:
        return {0: 0}
    starts = np.arange(0, height, most)
    ends = np.minimum(starts + most, height) * width * channels
    written = np.arange(batches)[:, None] * (height * width * channels) + ends
    rows = lags.first_read(node, graph).min(axis=2)
    read = np.minimum.reduceat(rows, starts, axis=1)
    # Other channels of these rows are still read after the first results are stored.
    return lags.of_steps(node, graph, written.ravel(), read.ravel())


def _work(node: Node, graph: Graph) -> Work:
    """Rows that are computed together, and four of their outputs; vectors of zero points; copied
    lines of strips, their columns, or eight columns of one channel; filters of rows, four outputs
    of these, and their vectors after the first one."""
    strips = _strips(node, graph)
    batches, height, width, channels = graph.types[node.outputs[0]].shape
    whole, rest = divmod(height, strips.rows * strips.strips)
    bands = batches * (whole + (rest > 0))
    is_flat = strips.strips > 1
    filters = channels * (bands if is_flat else batches * height)
    quads = bands * strips.quads
    if is_flat:
        quads = batches * (whole * strips.quads + -(-rest * width // _FOUR))
    outputs = quads * channels if is_flat else filters * strips.quads
    return {
        **common(node, graph),
        "strip_band": bands,
        "strip_place": quads,
        "strip_zero": -(-_zeros(node, graph) // _VECTOR),
        **_copied(node, graph),
        "strip_filter": filters,
        "strip_quad": outputs,
        "strip_quad_vector": outputs * (strips.vectors - 1),
    }


def _copied(node: Node, graph: Graph) -> dict[str, int]:
    """Lines that are copied to strips, and their columns: four, or eight of one channel, at a time,
    and single ones."""
    attrs = base.attrs_of(node, DepthwiseConv2DAttrs)
    strips, (batches, rows, columns, channels) = (
        _strips(node, graph),
        graph.types[node.inputs[0]].shape,
    )
    top, left = explicit(attrs.padding)[:2]
    height = graph.types[node.outputs[0]].shape[1]
    inside = max(0, min(columns, strips.columns - left))
    lines = 0
    for y in range(0, height, strips.rows * strips.strips):
        starts = range(y, min(y + strips.strips, height) if strips.strips > 1 else y + 1)
        seen = [n * strips.strides[0] - top + k for n in starts for k in range(strips.lines)]
        # What is outside of the first image's first rows has its zero points already.
        free = sum(not 0 <= row < rows for row in seen) * (y == 0)
        lines += len(seen) * batches - free
    blocks, part = divmod(channels, _CHANNELS)
    many = lines * (channels > 1)
    return {
        "strip_lone": lines - many,
        "strip_eights": (lines - many) * -(-inside // _CHANNELS),
        "strip_line": many * (blocks + (part > 0)),
        "strip_columns": many * blocks * (inside // _FOUR),
        "strip_column": many * (blocks * (inside % _FOUR) + inside * (part > 0)),
    }


def _arguments(node: Node, graph: Graph) -> Arguments:
    strips = _strips(node, graph)
    before = (strips.rows - 1) * strips.strides[0]
    return (("before", before), ("lines", strips.lines), ("vectors", strips.vectors))


# taps_of_channels: a weight of int8 [1, height, width, channels]; ``before``, ``lines``,
# ``vectors``. int8 [channels, before + 16 * vectors]: ``before`` zeros, and the columns of a filter
# with zeros for the rest of ``lines`` and of the vectors.
def _by_channel(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    _, height, width, channels = weight.shape
    before, lines = int(arguments["before"]), int(arguments["lines"])
    columns = np.zeros((channels, width, lines), weight.dtype)
    columns[:, :, :height] = weight[0].transpose(2, 1, 0)
    filters = np.zeros((channels, before + _VECTOR * int(arguments["vectors"])), weight.dtype)
    filters[:, before : before + width * lines] = columns.reshape(channels, -1)
    return filters


TRANSFORMS: Mapping[str, transforms.Function] = {"taps_of_channels": _by_channel}

_LOOP = weighted.vectors(
    Loop(
        stem="depthwise_conv2d_s8_strips",
        cores=("mg_mve_strip_outputs", "mg_mve_strips_line", "mg_mve_strips_line_of_one"),
        core_parts=("call", "strip_line", "strip_lone"),
        layout=WeightLayout("taps_of_channels", arguments=_arguments),
        sums=RAW,
        refusal=_refusal,
        scratch=_scratch,
        in_place=_in_place,
        work=_work,
    )
)
_IN_FLOATS = dataclasses.replace(_LOOP, cores=(f"{_LOOP.cores[0]}_float", *_LOOP.cores[1:]))
_OWN_LAYER = dataclasses.replace(LAYER, params=_params)

IMPLEMENTATIONS = (
    *_OWN_LAYER.kernels((_LOOP,), (TWICE_NARROW,)),
    *_OWN_LAYER.kernels((_IN_FLOATS,), (FLOAT_MVE,)),
)
