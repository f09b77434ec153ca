"""The bytes that functions with rows need if they compute some layers in patches.

A patch has a convolution, a convolution with windows that reads only its result, and perhaps a 1x1
convolution; or a 1x1 convolution and a mean over height and width. Instead of rows of the wide
result between the first two, the function keeps the rows from which the patch computes them again:
in a bound, a patch is one layer with the windows of both layers, whose scratch is a few columns of
the wide tensor, and those of the data if the first layer has windows, too. Only certificates use
this module, neither code generation nor the search.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from microgen.compiler.schedule.row_demand import Demand, Reach, with_types
from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit, extent
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.window import spatial
from microgen.kernels.fitting import least_scratch

MOST_COLUMNS = 4


def ways(demand: Demand, group: Sequence[str]) -> Iterator[tuple[Demand, tuple[str, ...]]]:
    """The function with patches for all tensors whose rows are at least so wide, for each width,
    without those that begin with windows and with them."""
    runs = list(_runs(demand, group))
    plain = [run for run in runs if _is_pointwise(demand, group[run[0]])]
    for own in (plain, runs) if len(plain) < len(runs) else (runs,):
        for least in sorted({_row_bytes(demand, group[first]) for first, _ in own}):
            wide = [run for run in own if _row_bytes(demand, group[run[0]]) >= least]
            yield _patched(demand, group, wide)


def _row_bytes(demand: Demand, name: str) -> int:
    kind = demand.graph.types[name]
    return kind.nbytes // kind.shape[1]


def _runs(demand: Demand, group: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first layer of each patch, and the layer after its last. Layers belong to a patch that
    begins with a 1x1 convolution before they belong to another."""
    taken: dict[int, int] = {}
    for is_plain in (True, False):
        for number, name in enumerate(group[:-1]):
            size = _length(demand, group, number) if number not in taken else 0
            own = range(number, number + size)
            if _is_pointwise(demand, name) != is_plain or not size:
                continue
            while size > 1 and not taken.keys().isdisjoint(own):
                size -= 1
                own = range(number, number + size)
            if size > 1:
                taken |= dict.fromkeys(own, number)
                yield number, number + size


def _length(demand: Demand, group: Sequence[str], number: int) -> int:
    """The layers of the longest patch that begins with a layer; 0 if there is none."""
    wide, second, *last = group[number : number + 3]
    is_first = isinstance(demand.nodes[wide][0].attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    if not is_first or demand.data(second) != [wide]:
        return 0
    if _is_read_later(demand, wide, group[number + 2 :]):
        return 0
    if demand.is_mean(second):
        return 2 * (not last and _is_pointwise(demand, wide))
    if _window(demand, second)[0] < 2:
        return 0
    is_whole = bool(last) and _is_pointwise(demand, last[0])
    is_whole = is_whole and demand.data(last[0]) == [second]
    return 2 + (is_whole and not _is_read_later(demand, second, group[number + 3 :]))


def _is_read_later(demand: Demand, name: str, others: Sequence[str]) -> bool:
    return any(name in demand.data(one) for one in others)


def _window(demand: Demand, name: str) -> tuple[int, int]:
    """The rows and columns of a convolution's window; (0, 0) for other layers."""
    node = demand.nodes[name][0]
    if not isinstance(node.attrs, Conv2DAttrs | DepthwiseConv2DAttrs):
        return 0, 0
    return extent(spatial(demand.graph.types[node.inputs[1]].shape), node.attrs.dilation)


def _is_pointwise(demand: Demand, name: str) -> bool:
    attrs = demand.nodes[name][0].attrs
    if not isinstance(attrs, Conv2DAttrs) or _window(demand, name) != (1, 1):
        return False
    return attrs.strides == (1, 1) and not any(explicit(attrs.padding))


def _patched(
    demand: Demand, group: Sequence[str], runs: Sequence[tuple[int, int]]
) -> tuple[Demand, tuple[str, ...]]:
    """The demand and the layers of the function if each of the runs is a patch."""
    nodes = {name: demand.nodes[name] for name in group}
    keys = [(name, name == group[-1]) for name in group]
    known = {key: demand.known[key] for key in keys if key in demand.known}
    inner, kept = set[str](), dict[str, int]()
    for first, end in runs:
        layers, last = group[first:end], group[end - 1]
        data, (below, down) = demand.data(layers[0])[0], (demand.nodes[n][1] for n in layers[:2])
        known[last, last == group[-1]] = _least(demand, layers)
        if demand.is_mean(layers[1]):
            kept[last] = known[last, True]  # all of it, from the first row to the last
        else:
            rows, above = below.of(down.extent), below.above + below.stride * down.above
            down = Reach(rows, below.stride * down.stride, above)
        nodes[last] = dataclasses.replace(demand.nodes[last][0], inputs=(data,)), down
        inner |= set(layers[:-1])
    own = dataclasses.replace(demand, nodes=nodes, known=known, kept=kept)
    return own, tuple(name for name in group if name not in inner)


def _least(demand: Demand, layers: Sequence[str]) -> int:
    """The least bytes of a patch's scratch, for any number of columns at a time."""
    is_mean = demand.is_mean(layers[-1])
    width = demand.graph.types[layers[0] if is_mean else layers[-1]].shape[2]
    counts = [n for n in range(1, MOST_COLUMNS + 1) if width % n == 0]
    return min(_scratch(demand, layers, count) for count in counts)


def _scratch(demand: Demand, layers: Sequence[str], count: int) -> int:
    graph, (first, _) = demand.graph, demand.nodes[layers[0]]
    if demand.is_mean(layers[1]):
        return _of_mean(demand, layers, count)
    across, stride = _across(demand, layers[1])
    each = math.gcd(stride * count, graph.types[layers[0]].shape[2]) if count > 1 else 1
    wide_size = across[0], _kept(across, stride, count, each)
    read, data = (1, each), 0
    if not _is_pointwise(demand, layers[0]):
        kind = graph.types[first.inputs[0]]
        own_across, own_stride = _across(demand, layers[0])
        copied = math.gcd(own_stride * each, kind.shape[2])
        read = own_across[0], _kept(own_across, own_stride, each, copied)
        rows = demand.nodes[layers[0]][1].of(across[0])
        data = _sized(kind, rows, read[1]).nbytes
    sizes = [(read, (1, each)), (wide_size, (1, count)), ((1, count), (1, count))]
    cuts = [
        _cut(demand.nodes[name][0], graph, *size) for name, size in zip(layers, sizes, strict=False)
    ]
    during = [least_scratch(node, cut, demand.cpu) for node, cut in cuts]
    if len(layers) > 2:
        between = _sized(graph.types[layers[1]], 1, count).nbytes
        during = [during[0], *(nbytes + between for nbytes in during[1:])]
    return data + _sized(graph.types[layers[0]], *wide_size).nbytes + max(during)


def _of_mean(demand: Demand, layers: Sequence[str], count: int) -> int:
    """The bytes for some columns of the wide tensor, and for their sums."""
    graph, ((first, _), (mean, _)) = demand.graph, (demand.nodes[name] for name in layers)
    kind = graph.types[layers[0]]
    wide, attrs, times = _sized(kind, 1, count), mean.attrs, kind.shape[1] * kind.shape[2] // count
    if isinstance(attrs, MeanAttrs):
        attrs = dataclasses.replace(attrs, rows=times)
    elif isinstance(attrs, AvgPool2DAttrs):
        attrs = dataclasses.replace(attrs, pool_size=(times, count))
    cut = with_types(mean, graph, {layers[0]: wide})
    alone = least_scratch(*_cut(first, graph, (1, count), (1, count)), demand.cpu)
    return (
        wide.nbytes + alone + least_scratch(dataclasses.replace(mean, attrs=attrs), cut, demand.cpu)
    )


def _across(demand: Demand, name: str) -> tuple[tuple[int, int, int], int]:
    """The rows and columns of a convolution's window, and its columns left of the data; and its
    stride along the columns."""
    attrs = demand.nodes[name][0].attrs
    assert isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    return (*_window(demand, name), explicit(attrs.padding)[1]), attrs.strides[1]


def _kept(across: tuple[int, int, int], stride: int, count: int, each: int) -> int:
    """The columns that a buffer keeps, which gets ``each`` at a time, for ``count`` results."""
    _, columns, left = across
    return max(1, -(-(columns + (count - 1) * stride - left) // each)) * each + left


def _cut(
    node: Node, graph: Graph, read: tuple[int, int], made: tuple[int, int]
) -> tuple[Node, Graph]:
    """The layer for some rows and columns, padding included."""
    assert isinstance(node.attrs, Conv2DAttrs | DepthwiseConv2DAttrs)
    kinds, (data, result) = graph.types, (node.inputs[0], node.outputs[0])
    cut = {data: _sized(kinds[data], *read), result: _sized(kinds[result], *made)}
    own = dataclasses.replace(node, attrs=dataclasses.replace(node.attrs, padding=(0, 0, 0, 0)))
    return own, with_types(node, graph, cut)


def _sized(kind: ArrayType, rows: int, columns: int) -> ArrayType:
    return dataclasses.replace(kind, shape=(kind.shape[0], rows, columns, kind.shape[3]))
