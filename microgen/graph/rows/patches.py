"""Layers of which only a patch exists: a few columns of the rows that one row of a result needs.

A patch has three layers, or the first two of them: a 1x1 convolution, whose result is ``wide``; a
layer with windows on it; and another 1x1 convolution. For each row of the last result the wide
tensor is computed again, a few columns at a time, in the rows that the windows need. So only these
columns of it are in memory, for example three rows of three columns, but its rows are computed
several times. Along the columns nothing is computed twice: columns take the place of rows in the
geometry of line buffers.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit, extent
from microgen.graph.ops.window import spatial
from microgen.graph.rows import geometry, windows
from microgen.graph.rows.geometry import Geometry, Stage
from microgen.graph.rows.windows import RowWindow

MOST_NODES = 3


@dataclass(frozen=True, slots=True)
class Patch:
    """The layers of a patch, in execution order, and the tensor that they read. A row of the last
    result depends on the rows in ``window`` of ``data``, which are as many as rows of the wide
    tensor. ``columns`` is the geometry along the columns, ``wide`` the number of columns in the
    wide tensor's buffer. ``tiles`` has each node as a kernel computes it at a time, by its result.
    """

    nodes: tuple[Node, ...]
    data: str
    window: RowWindow
    columns: Geometry
    wide: int
    tiles: Mapping[str, tuple[Node, Graph]]

    @property
    def result(self) -> str:
        """The tensor that it computes row by row."""
        return self.nodes[-1].outputs[0]

    def calls(self, name: str) -> int:
        """The calls that compute a tensor's part of one row of the result."""
        is_wide = name == self.nodes[0].outputs[0]
        return self.columns.timings[name].count * (self.window.extent if is_wide else 1)


def runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """The first node of each patch and of each other layer, and the one after its last, if layers
    have ``columns`` in patches: a patch ends with the first layer that has none."""
    found, first = [], 0
    for number, each in enumerate(columns):
        if not each:
            found.append((first, number + 1))
            first = number + 1
    if first < len(columns):
        raise ValueError("its last layer has columns, but no layer after it")
    return found


def possible(nodes: Sequence[Node], graph: Graph) -> list[tuple[int, int]]:
    """The longest patches of layers that follow one another: the first node of each, and the one
    after its last."""
    found, first, uses = list[tuple[int, int]](), 0, graph.uses_of()
    while first < len(nodes):
        sizes = [n for n in (MOST_NODES, 2) if first + n <= len(nodes)]
        size = next((n for n in sizes if not _problem(nodes[first : first + n], graph, uses)), 0)
        if size:
            found.append((first, first + size))
        first += size or 1
    return found


def of(nodes: Sequence[Node], graph: Graph, columns: int) -> Patch:
    """The patch that computes ``columns`` columns of its last result at a time.

    Raises ValueError, with a clause that says why, if the nodes are no patch, or if ``columns`` do
    not divide the columns of the result.
    """
    if problem := _problem(nodes, graph, graph.uses_of()):
        raise ValueError(problem)
    first, windowed = nodes[:2]
    wide, data = first.outputs[0], first.inputs[0]
    across, down = _across(windowed, graph), windows.of(windowed, graph)
    assert down is not None, "the check above has asked"
    rows = down.windows[0]
    # Columns that divide the width never reach beyond the data, from which they are not copied.
    each = math.gcd(across.stride * columns, graph.types[data].shape[2])
    reads = [{data: RowWindow()}, {wide: across}]
    reads += [{windowed.outputs[0]: RowWindow()}] * (len(nodes) - 2)
    counts = [each, columns, columns]
    stages = [
        Stage(node.outputs[0], graph.types[node.outputs[0]].shape[2], count, read)
        for node, count, read in zip(nodes, counts, reads, strict=False)
    ]
    made = geometry.of(stages, {data: graph.types[data].shape[2]})
    kept = made.buffers[wide].rows
    tiles = _tiles(nodes, graph, (each, columns), (rows.extent, kept))
    return Patch(tuple(nodes), data, _window(rows, data, graph), made, kept, tiles)


def _window(rows: RowWindow, data: str, graph: Graph) -> RowWindow:
    # The patch leaves out rows outside the data, so the value of their padding is never read.
    return dataclasses.replace(rows, fill=graph.types[data].zero)


def _problem(nodes: Sequence[Node], graph: Graph, uses: Mapping[str, int]) -> str:
    """Why nodes are no patch; "" if they are."""
    if not 2 <= len(nodes) <= MOST_NODES:
        return "a patch has two or three layers"
    for before, after in itertools.pairwise(nodes):
        if list(after.inputs).count(before.outputs[0]) != 1 or uses[before.outputs[0]] != 1:
            return f"{before.outputs[0]!r} is not read by {after.outputs[0]!r} only"
    for node in (nodes[0], *nodes[2:]):
        if not _is_pointwise(node, graph):
            return f"{node.outputs[0]!r} is no 1x1 convolution"
    attrs = nodes[1].attrs
    is_windowed = isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    found = windows.of(nodes[1], graph) if is_windowed else None
    if found is None or found.windows[0].extent < 2:
        return f"{nodes[1].outputs[0]!r} is no convolution with several rows in a window"
    rows, heights = found.windows[0], [kind.shape[1] for kind in _ends(nodes[1], graph)]
    # Otherwise some rows would never be computed, and no comparison could read them.
    if rows.stride > rows.extent or rows.stride * heights[1] - rows.above + rows.extent < (
        heights[0] + rows.stride
    ):
        return f"{nodes[1].outputs[0]!r} does not read all rows"
    return ""


def _ends(node: Node, graph: Graph) -> tuple[ArrayType, ArrayType]:
    return graph.types[node.inputs[0]], graph.types[node.outputs[0]]


def _is_pointwise(node: Node, graph: Graph) -> bool:
    attrs = node.attrs
    if not isinstance(attrs, Conv2DAttrs) or windows.of(node, graph) is None:
        return False
    size = spatial(graph.types[node.inputs[1]].shape)
    return size == (1, 1) and attrs.strides == (1, 1) and not any(explicit(attrs.padding))


def _across(node: Node, graph: Graph) -> RowWindow:
    """The windows of a convolution along columns."""
    attrs, (data, weights) = node.attrs, graph.type_of(node.inputs[:2])
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    _, columns = extent(spatial(weights.shape), attrs.dilation)
    return RowWindow(columns, attrs.strides[1], explicit(attrs.padding)[1], data.zero)


def _tiles(
    nodes: Sequence[Node], graph: Graph, counts: tuple[int, int], window: tuple[int, int]
) -> dict[str, tuple[Node, Graph]]:
    """The nodes for one time: a row of ``counts`` columns of the wide tensor and of the others. The
    layer with windows reads the rows and columns in ``window``, which contain their padding."""
    found = {}
    for number, node in enumerate(nodes):
        attrs, sizes = node.attrs, [(1, counts[bool(number)])] * 2
        if number == 1:
            assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
            attrs = dataclasses.replace(attrs, padding=(0, 0, 0, 0))
            sizes[0] = window
        names = (node.inputs[0], node.outputs[0])
        cut = {n: _cut(graph.types[n], *size) for n, size in zip(names, sizes, strict=True)}
        own = graph.replace(types=ChainMap(cut, dict(graph.types)))
        found[node.outputs[0]] = dataclasses.replace(node, attrs=attrs), own
    return found


def _cut(kind: ArrayType, rows: int, columns: int) -> ArrayType:
    return dataclasses.replace(kind, shape=(kind.shape[0], rows, columns, kind.shape[3]))
