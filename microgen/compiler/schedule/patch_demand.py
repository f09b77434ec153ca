"""The bytes that functions with rows need if they compute some layers in patches.

A patch has a 1x1 convolution, a convolution with windows that reads only its result, and perhaps
another 1x1 convolution. Instead of rows of the wide result between the first two, the function
keeps the rows from which the patch computes them again: in a bound, a patch is one layer with the
windows of its second layer, whose scratch is a few columns of the wide tensor. Only certificates
use this module, neither code generation nor the search.
"""

from __future__ import annotations

import dataclasses
import math
from collections import ChainMap
from collections.abc import Iterator, Sequence

from microgen.compiler.schedule.row_demand import Demand
from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit, extent
from microgen.graph.ops.window import spatial
from microgen.kernels.fitting import least_scratch

MOST_COLUMNS = 4


def ways(demand: Demand, group: Sequence[str]) -> Iterator[tuple[Demand, tuple[str, ...]]]:
    """The function with patches for all tensors whose rows are at least so wide, for each width."""
    runs = list(_runs(demand, group))
    for least in sorted({_row_bytes(demand, group[first]) for first, _ in runs}):
        own = [run for run in runs if _row_bytes(demand, group[run[0]]) >= least]
        yield _patched(demand, group, own)


def _row_bytes(demand: Demand, name: str) -> int:
    kind = demand.graph.types[name]
    return kind.nbytes // kind.shape[1]


def _runs(demand: Demand, group: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first layer of each patch, and the layer after its last."""
    number = 0
    while number < len(group) - 1:
        wide, windowed, *last = group[number : number + 3]
        if (
            _is_pointwise(demand, wide)
            and demand.data(windowed) == [wide]
            and _window(demand, windowed)[0] > 1
            and not _is_read_later(demand, wide, group[number + 2 :])
        ):
            is_whole = bool(last) and _is_pointwise(demand, last[0])
            is_whole = is_whole and demand.data(last[0]) == [windowed]
            is_whole = is_whole and not _is_read_later(demand, windowed, group[number + 3 :])
            yield number, number + 2 + is_whole
            number += 2 + is_whole
        else:
            number += 1


def _is_read_later(demand: Demand, name: str, others: Sequence[str]) -> bool:
    return any(name in demand.data(one) for one in others)


def _window(demand: Demand, name: str) -> tuple[int, int]:
    """The rows and columns of a convolution's window; (0, 0) for other layers."""
    node = demand.nodes[name][0]
    if not isinstance(node.attrs, Conv2DAttrs | DepthwiseConv2DAttrs):
        return 0, 0
    return extent(spatial(demand.graph.types[node.inputs[1]].shape), node.attrs.dilation)


def _is_pointwise(demand: Demand, name: str) -> bool:
    node = demand.nodes[name][0]
    return isinstance(node.attrs, Conv2DAttrs) and _window(demand, name) == (1, 1)


def _patched(
    demand: Demand, group: Sequence[str], runs: Sequence[tuple[int, int]]
) -> tuple[Demand, tuple[str, ...]]:
    """The demand and the layers of the function if each of the runs is a patch."""
    nodes = {name: demand.nodes[name] for name in group}
    keys = [(name, name == group[-1]) for name in group]
    known = {key: demand.known[key] for key in keys if key in demand.known}
    inner = set[str]()
    for first, end in runs:
        layers, last = group[first:end], group[end - 1]
        data, window = demand.data(layers[0])[0], demand.nodes[layers[1]][1]
        nodes[last] = dataclasses.replace(demand.nodes[last][0], inputs=(data,)), window
        known[last, last == group[-1]] = _least(demand, layers)
        inner |= set(layers[:-1])
    own = dataclasses.replace(demand, nodes=nodes, known=known)
    return own, tuple(name for name in group if name not in inner)


def _least(demand: Demand, layers: Sequence[str]) -> int:
    """The least bytes of a patch's scratch, for any number of columns at a time."""
    width = demand.graph.types[layers[-1]].shape[2]
    counts = [n for n in range(1, MOST_COLUMNS + 1) if width % n == 0]
    return min(_scratch(demand, layers, count) for count in counts)


def _scratch(demand: Demand, layers: Sequence[str], count: int) -> int:
    graph, windowed = demand.graph, demand.nodes[layers[1]][0]
    assert isinstance(windowed.attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    rows, columns = _window(demand, layers[1])
    left, stride = explicit(windowed.attrs.padding)[1], windowed.attrs.strides[1]
    each = math.gcd(stride * count, graph.types[layers[0]].shape[2])
    times = max(1, -(-(columns + (count - 1) * stride - left) // each))
    wide = rows, times * each + left
    sizes = [((1, each), (1, each)), (wide, (1, count)), ((1, count), (1, count))]
    own = [
        _cut(demand.nodes[name][0], graph, *size) for name, size in zip(layers, sizes, strict=False)
    ]
    during = [least_scratch(node, cut, demand.cpu) for node, cut in own]
    if len(layers) > 2:
        between = _sized(graph.types[layers[1]], 1, count).nbytes
        during = [during[0], *(nbytes + between for nbytes in during[1:])]
    return _sized(graph.types[layers[0]], *wide).nbytes + max(during)


def _cut(
    node: Node, graph: Graph, read: tuple[int, int], made: tuple[int, int]
) -> tuple[Node, Graph]:
    """The layer for some rows and columns, padding included."""
    assert isinstance(node.attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    kinds, (data, result) = graph.types, (node.inputs[0], node.outputs[0])
    cut = {data: _sized(kinds[data], *read), result: _sized(kinds[result], *made)}
    own = dataclasses.replace(node, attrs=dataclasses.replace(node.attrs, padding=(0, 0, 0, 0)))
    return own, graph.replace(types=ChainMap(cut, dict(kinds)))


def _sized(kind: ArrayType, rows: int, columns: int) -> ArrayType:
    return dataclasses.replace(kind, shape=(kind.shape[0], rows, columns, kind.shape[3]))
