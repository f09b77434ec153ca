"""Layers of which only a patch exists: a few columns of the rows that one row of a result needs.

A patch begins with a convolution, whose result is ``wide``. Either a layer with windows on it and
perhaps a 1x1 convolution follow, or, after a 1x1 convolution, a mean over height and width. For
each row of the last result the wide tensor is computed again, a few columns at a time, in the rows
that the windows need. So only these columns of it are in memory, for example three rows of three
columns, but its rows are computed several times. Along the columns nothing is computed twice:
columns take the place of rows in the geometry of line buffers. If the first convolution has
windows, too, columns of the data are copied for it.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from microgen.graph.ir.graph import ArrayType, Attrs, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit, extent
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.window import spatial
from microgen.graph.rows import geometry, windows
from microgen.graph.rows.geometry import Geometry, Stage
from microgen.graph.rows.windows import RowWindow

MOST_NODES = 3

_WINDOWED = Conv2DAttrs | DepthwiseConv2DAttrs
_ONE = RowWindow()


@dataclass(frozen=True, slots=True)
class Patch:
    """The layers of a patch, in execution order, and the tensor that they read. A row of the last
    result depends on the rows in ``window`` of ``data``, and on the rows in ``rows`` of the wide
    tensor. ``height`` rows of it are computed; if it ``is_summed``, they are rows of the wide
    tensor, of which the result is the mean. ``columns`` is the geometry along the columns, ``wide``
    the number of columns in the wide tensor's buffer, and ``copied`` that of the data, 0 if no
    columns are copied. ``tiles`` has each node as a kernel computes it at a time, by its result.
    """

    nodes: tuple[Node, ...]
    data: str
    window: RowWindow
    rows: RowWindow
    height: int
    columns: Geometry
    wide: int
    copied: int
    tiles: Mapping[str, tuple[Node, Graph]]
    is_summed: bool

    @property
    def result(self) -> str:
        """The tensor that it computes row by row."""
        return self.nodes[-1].outputs[0]

    def calls(self, name: str) -> int:
        """The calls that compute a tensor's part of one row of the result."""
        is_wide = name == self.nodes[0].outputs[0]
        return self.columns.timings[name].count * (self.rows.extent if is_wide else 1)


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
    after its last. Patches that begin with a 1x1 convolution go before others."""
    uses = graph.uses_of()
    firsts = [is_pointwise(node, graph) for node in nodes]
    found = list(_free(nodes, graph, uses, [k for k, one in enumerate(firsts) if one]))
    taken = {k for first, end in found for k in range(first, end)}
    others = [k for k, one in enumerate(firsts) if not one and k not in taken]
    found += _free(nodes, graph, uses, others, taken)
    return sorted(found)


def _free(
    nodes: Sequence[Node],
    graph: Graph,
    uses: Mapping[str, int],
    firsts: Sequence[int],
    taken: set[int] | frozenset[int] = frozenset(),
) -> Iterator[tuple[int, int]]:
    """The longest patch from each of the ``firsts`` on, without nodes of those before or ``taken``
    ones."""
    free = 0
    for first in firsts:
        for size in (MOST_NODES, 2):
            own = range(first, first + size)
            if first < free or first + size > len(nodes) or not taken.isdisjoint(own):
                continue
            if not _problem(nodes[first : first + size], graph, uses):
                yield first, first + size
                free = first + size
                break


def of(nodes: Sequence[Node], graph: Graph, columns: int) -> Patch:
    """The patch that computes ``columns`` columns of its last result at a time.

    Raises ValueError, with a clause that says why, if the nodes are no patch, or if ``columns`` do
    not divide the columns of the result.
    """
    if problem := _problem(nodes, graph, graph.uses_of()):
        raise ValueError(problem)
    first, second = nodes[:2]
    wide, data = first.outputs[0], first.inputs[0]
    is_summed = _is_summed(second, graph)
    below, down = _down(first, graph), _ONE if is_summed else _down(second, graph)
    across = _ONE if is_summed else _across(second, graph)
    # Columns that divide the width never reach beyond the wide tensor. With strides, its buffer has
    # the fewest columns if it gets one at a time.
    each = math.gcd(across.stride * columns, graph.types[wide].shape[2]) if columns > 1 else 1
    reads = [_across(first, graph), across]
    made = _columns(nodes, graph, (each, columns), reads)
    kept, found = made.buffers[wide].rows, made.buffers.get(data)
    copied = found.rows if found else 0
    sizes = [(below.extent, copied or each), (down.extent, kept), (1, columns)]
    tiles = _tiles(nodes, graph, (each, columns), sizes)
    whole = graph.types[wide if is_summed else nodes[-1].outputs[0]]
    window = _composed(below, down, graph.types[data].zero)
    rest = window, down, whole.shape[1], made, kept, copied, tiles, is_summed
    return Patch(tuple(nodes), data, *rest)


def _down(node: Node, graph: Graph) -> RowWindow:
    found = windows.of(node, graph)
    assert found is not None, "the check has asked"
    return found.windows[0]


def _composed(first: RowWindow, second: RowWindow, fill: int) -> RowWindow:
    """The rows of the data on which rows of the wide tensor in a window depend."""
    return RowWindow(
        first.rows(second.extent),
        first.stride * second.stride,
        first.above + first.stride * second.above,
        fill,
    )


def width(nodes: Sequence[Node], graph: Graph) -> int:
    """The columns of a row of a patch, some of which are computed at a time."""
    # A mean adds up those of its input.
    last, is_summed = nodes[-1], _is_summed(nodes[-1], graph)
    return graph.types[last.inputs[0] if is_summed else last.outputs[0]].shape[2]


def _columns(
    nodes: Sequence[Node], graph: Graph, counts: tuple[int, int], reads: Sequence[RowWindow]
) -> Geometry:
    """The geometry along the columns, of which the wide tensor and the others get ``counts`` at a
    time. ``reads`` are the windows of the first two layers."""
    first, data = nodes[0], nodes[0].inputs[0]
    windows_of = [*reads, *[_ONE] * (len(nodes) - 2)]
    stages = []
    for number, (node, read) in enumerate(zip(nodes, windows_of, strict=True)):
        # The columns of a mean are those that it adds up.
        counted = node.inputs[0] if _is_summed(node, graph) else node.outputs[0]
        width, count = graph.types[counted].shape[2], counts[bool(number)]
        stages.append(Stage(node.outputs[0], width, count, {node.inputs[0]: read}))
    width_of = {data: graph.types[data].shape[2]}
    return geometry.of(stages, width_of, {} if is_pointwise(first, graph) else width_of)


def _problem(nodes: Sequence[Node], graph: Graph, uses: Mapping[str, int]) -> str:
    """Why nodes are no patch; "" if they are."""
    if not 2 <= len(nodes) <= MOST_NODES:
        return "a patch has two or three layers"
    for before, after in itertools.pairwise(nodes):
        if list(after.inputs).count(before.outputs[0]) != 1 or uses[before.outputs[0]] != 1:
            return f"{before.outputs[0]!r} is not read by {after.outputs[0]!r} only"
    first, second, *last = nodes
    if _is_summed(second, graph) and is_pointwise(first, graph) and not last:
        return ""
    if not isinstance(first.attrs, _WINDOWED) or windows.of(first, graph) is None:
        return f"{first.outputs[0]!r} is no convolution"
    if last and not is_pointwise(last[0], graph):
        return f"{last[0].outputs[0]!r} is no 1x1 convolution"
    found = windows.of(second, graph) if isinstance(second.attrs, _WINDOWED) else None
    if found is None or found.windows[0].extent < 2:
        return f"{second.outputs[0]!r} is no convolution with several rows in a window"
    rows, heights = found.windows[0], [kind.shape[1] for kind in _ends(second, graph)]
    # Otherwise some rows would never be computed, and no comparison could read them.
    if rows.stride > rows.extent or rows.stride * heights[1] - rows.above + rows.extent < (
        heights[0] + rows.stride
    ):
        return f"{second.outputs[0]!r} does not read all rows"
    return ""


def _ends(node: Node, graph: Graph) -> tuple[ArrayType, ArrayType]:
    return graph.types[node.inputs[0]], graph.types[node.outputs[0]]


def _is_summed(node: Node, graph: Graph) -> bool:
    return windows.summed(node, graph) is not None


def is_pointwise(node: Node, graph: Graph) -> bool:
    """Whether it is a 1x1 convolution of every pixel, which can be computed row by row."""
    attrs = node.attrs
    if not isinstance(attrs, Conv2DAttrs) or windows.of(node, graph) is None:
        return False
    size = spatial(graph.types[node.inputs[1]].shape)
    return size == (1, 1) and attrs.strides == (1, 1) and not any(explicit(attrs.padding))


def _across(node: Node, graph: Graph) -> RowWindow:
    """The windows of a convolution along columns."""
    attrs, (data, weights) = node.attrs, graph.type_of(node.inputs[:2])
    assert isinstance(attrs, _WINDOWED)
    _, columns = extent(spatial(weights.shape), attrs.dilation)
    return RowWindow(columns, attrs.strides[1], explicit(attrs.padding)[1], data.zero)


def _tiles(
    nodes: Sequence[Node],
    graph: Graph,
    counts: tuple[int, int],
    sizes: Sequence[tuple[int, int]],
) -> dict[str, tuple[Node, Graph]]:
    """The nodes for one time: a row of ``counts`` columns of the wide tensor and of the others.
    ``sizes`` are the rows and columns that each node reads, padding included."""
    found = {}
    for number, (node, size) in enumerate(zip(nodes, sizes, strict=False)):
        result, data = node.outputs[0], graph.types[node.inputs[0]]
        cut = {node.inputs[0]: _cut(data, *size)}
        if not _is_summed(node, graph):
            cut[result] = _cut(graph.types[result], 1, counts[bool(number)])
        own = graph.replace(types=ChainMap(cut, cast(dict[str, ArrayType], graph.types)))
        found[result] = dataclasses.replace(node, attrs=_without_padding(node, data, size)), own
    return found


def _without_padding(node: Node, data: ArrayType, size: tuple[int, int]) -> Attrs:
    attrs, times = node.attrs, data.shape[1] * data.shape[2] // size[1]
    if isinstance(attrs, MeanAttrs):
        # A few columns of a row take the place of its rows: so often they are added to sums.
        return dataclasses.replace(attrs, rows=times)
    if isinstance(attrs, AvgPool2DAttrs):
        return dataclasses.replace(attrs, pool_size=(times, size[1]))
    assert isinstance(attrs, _WINDOWED)
    return dataclasses.replace(attrs, padding=(0, 0, 0, 0))


def _cut(kind: ArrayType, rows: int, columns: int) -> ArrayType:
    return dataclasses.replace(kind, shape=(kind.shape[0], rows, columns, kind.shape[3]))
