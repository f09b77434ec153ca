"""The numbers of runs of parts of float32 kernels that compute tiles: pixels and four channels.

docs/explanation/costs.md describes the numbers. Tiles are found as in
``microgen/convolution/pixel_lines.h``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import resolve
from microgen.kernels import base
from microgen.kernels.work import Work, common, seen

TILE = 4  # channels, and pixels
SEPARATE = 3  # pixels, if products are rounded before the addition
WIDE = 16  # features that the dense kernel for MVE computes at a time


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of a window. ``taps`` has, for each place of the window, the number of its taps that
    are inside the input. ``whole`` are the places at which all taps are inside. Tiles have
    ``pixels`` places."""

    taps: tuple[int, ...]
    kernel: int
    pixels: int = TILE

    @property
    def whole(self) -> range:
        """The places whose windows are not clipped, which follow one another."""
        places = [i for i, n in enumerate(self.taps) if n == self.kernel]
        return range(places[0], places[-1] + 1) if places else range(0)

    @property
    def tiles(self) -> int:
        """Tiles of a line along this axis."""
        return len(self.whole) // self.pixels

    def lone(self) -> Iterator[int]:
        """The taps of the places of a line that are in no tile."""
        begin = self.whole.start
        tiled = range(begin, begin + self.tiles * self.pixels)
        yield from (n for i, n in enumerate(self.taps) if i not in tiled)


def _axes(node: Node, graph: Graph, pixels: int) -> tuple[_Axis, _Axis]:
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    (data, weight, *_), output = base.types(node, graph)
    size, places, kernel = (base.spatial(kind) for kind in (data, output, weight))
    pads = resolve(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    if kernel == (1, 1) and attrs.strides == (1, 1) and not any(pads):  # all pixels are one line
        return _Axis((1,), 1), _Axis((1,) * (output.size // output.shape[3]), 1, pixels)
    taps = seen(attrs.padding, size, places, kernel, attrs.strides, attrs.dilation)
    rows, columns = (_Axis(tuple(own), n, pixels) for own, n in zip(taps, kernel, strict=True))
    return rows, columns


def _parts(rows: _Axis, columns: _Axis, depth: int, *, is_one_run: bool) -> dict[str, int]:
    """Tiles and lone pixels, with the runs and values that they read."""
    # As mg_pixel_lines_of: lines are columns only if more tiles fit into these.
    by_row = len(rows.taps) * columns.tiles >= len(columns.taps) * rows.tiles
    line, across = (columns, rows) if by_row else (rows, columns)
    lone = list(line.lone())

    def runs(along: int, other: int) -> int:
        height, width = (other, along) if by_row else (along, other)
        return height if is_one_run else height * width

    whole = [(line.kernel, n) for n in across.taps for _ in range(line.tiles)]
    single = [(m, n) for n in across.taps for m in lone]
    return {
        "tile": len(whole),
        "tile_run": sum(runs(*pair) for pair in whole),
        "tile_value": sum(m * n for m, n in whole) * depth,
        "lone": len(single),
        "lone_run": sum(runs(*pair) for pair in single),
        "lone_value": sum(m * n for m, n in single) * depth,
    }


def _times(parts: dict[str, int], images: int, blocks: int) -> dict[str, int]:
    """The numbers of pixels, and of all channels' blocks."""
    pixels = {f"{name}_pixel": parts[name] * images for name in ("tile", "lone")}
    return pixels | {name: n * images * blocks for name, n in parts.items()}


def _images(node: Node, graph: Graph, rows: _Axis, columns: _Axis) -> int:
    """The images whose pixels the axes have: one if all images are one line."""
    output = graph.types[node.outputs[0]]
    return output.size // output.shape[3] // (len(rows.taps) * len(columns.taps))


def _blocks(channels: int) -> int:
    return -(-channels // TILE)


def conv2d(node: Node, graph: Graph, pixels: int = TILE) -> Work:
    """The work of nn.conv2d, with tiles of ``pixels``."""
    data, weight = (graph.types[name].shape for name in node.inputs[:2])
    groups = data[3] // weight[3]
    rows, columns = _axes(node, graph, pixels)
    # Without groups and dilation, the values of a window's row follow one another.
    is_one_run = groups == 1 and base.attrs_of(node, Conv2DAttrs).dilation[1] == 1
    parts = _parts(rows, columns, weight[3], is_one_run=is_one_run)
    images = _images(node, graph, rows, columns)
    return common(node, graph) | _times(parts, images, groups * _blocks(weight[0] // groups))


def depthwise(node: Node, graph: Graph) -> Work:
    """The work of nn.depthwise_conv2d; a row of a window is a run."""
    rows, columns = _axes(node, graph, TILE)
    channels = graph.types[node.outputs[0]].shape[3]
    parts = _parts(rows, columns, 1, is_one_run=True)
    return common(node, graph) | _times(
        parts, _images(node, graph, rows, columns), _blocks(channels)
    )


def transposed(node: Node, graph: Graph) -> Work:
    """The work of nn.conv2d_transpose, whose runs are the values of a pixel of the input."""
    attrs = base.attrs_of(node, Conv2DTransposeAttrs)
    (data, weight, *_), output = base.types(node, graph)
    shapes = (attrs.size, base.spatial(data), base.spatial(weight))
    rows, columns = seen(attrs.padding, *shapes, attrs.strides, (1, 1))
    pixels, blocks = output.size // output.shape[3], _blocks(output.shape[3])
    runs = output.shape[0] * sum(rows) * sum(columns) * blocks
    return {
        **common(node, graph),
        "lone_pixel": pixels,
        "lone": pixels * blocks,
        "lone_run": runs,
        "lone_value": runs * data.shape[3],
    }


def dense(node: Node, graph: Graph, pixels: int = TILE) -> Work:
    """The work of nn.dense; rows are pixels, of which tiles have ``pixels``."""
    filters, depth = graph.types[node.inputs[1]].shape
    rows = graph.types[node.outputs[0]].size // filters
    wide, rest = divmod(filters, WIDE)
    parts = _parts(_Axis((1,), 1), _Axis((1,) * rows, 1, pixels), depth, is_one_run=True)
    # A row of data is one run, so runs would only count tiles again.
    del parts["tile_run"], parts["lone_run"]
    return {
        **common(node, graph),
        **_times(parts, 1, _blocks(filters)),
        "wide": rows * wide,
        "wide_value": rows * wide * depth,
        "narrow": rows * _blocks(rest),
        "narrow_value": rows * _blocks(rest) * depth,
    }
