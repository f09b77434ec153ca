"""The numbers of rows of each tensor that a function with rows must keep.

Every layer computes ``count`` rows at a time. It begins as soon as the rows of its windows are
there, and continues at the pace of its readers. When a reader computes its first rows, the buffer
of its input contains the rows from the beginning of the reader's window to the last row computed.
The buffer keeps this size. Only certificates use this module, neither code generation nor the
search.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.geometry import explicit, extent
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.window import spatial
from microgen.kernels.fitting import least_scratch
from microgen.target.cpu import Cpu

_Windowed = AvgPool2DAttrs | Conv2DAttrs | DepthwiseConv2DAttrs | MaxPool2DAttrs


@dataclass(frozen=True, slots=True)
class Reach:
    """The rows of its inputs that a layer's rows need: ``extent`` for one row, ``stride`` more for
    each further one, the first ``above`` of them before the input's first row."""

    extent: int = 1
    stride: int = 1
    above: int = 0

    def of(self, count: int) -> int:
        """The rows for ``count`` rows of the result."""
        return self.extent + (count - 1) * self.stride


def reach(node: Node, graph: Graph) -> Reach | None:
    """The rows that a layer reads; None if its rows cannot be computed one after another."""
    if isinstance(node.attrs, MeanAttrs):
        return _reach_of_mean(node.attrs, graph.types[node.inputs[0]], any(node.place))
    attrs, data, result = node.attrs, *graph.type_of((*node.inputs[:1], *node.outputs[:1]))
    if any(node.place) or len(node.outputs) > 1 or len(data.shape) != 4 or len(result.shape) != 4:
        return None
    if isinstance(attrs, Conv2DAttrs | DepthwiseConv2DAttrs):
        rows, _ = extent(spatial(graph.types[node.inputs[1]].shape), attrs.dilation)
        return Reach(rows, attrs.strides[0], explicit(attrs.padding)[0])
    if isinstance(attrs, AvgPool2DAttrs | MaxPool2DAttrs):
        return Reach(attrs.pool_size[0], attrs.strides[0], explicit(attrs.padding)[0])
    shapes = {graph.types[name].shape for name in node.inputs if name not in graph.constants}
    # The bound must not be too high, so rows are assumed to be possible if it is not certain.
    return Reach() if shapes == {result.shape} else None


def _reach_of_mean(attrs: MeanAttrs, data: ArrayType, is_elsewhere: bool) -> Reach | None:
    """The rows of a mean over height and width: all."""
    is_image = len(data.shape) == 4 and attrs.axes == (1, 2) and not is_elsewhere
    return Reach(data.shape[1]) if is_image else None


@dataclass(frozen=True)
class Demand:
    """The bytes that functions need if each of their layers computes ``count`` rows at a time.
    ``nodes`` are all layers that can be in such a function, by their results. A function is a
    sequence of such results. ``fed`` has the number of rows that the caller passes at a time, by
    tensor, and ``kept`` the bytes of scratch that last layers keep from one time to the next, if
    these are known."""

    graph: Graph
    cpu: Cpu
    count: int
    nodes: Mapping[str, tuple[Node, Reach]]
    fed: Mapping[str, int]
    known: dict[tuple[str, bool], int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)

    def can_be(self, group: Sequence[str]) -> bool:
        """Whether layers of the group read all results but the last, and the last layer reads or
        writes a multiple of ``count`` rows."""
        read = {data for name in group for data in self.data(name)}
        ends = (self.data(group[-1])[0], group[-1])
        is_whole = any(self.graph.types[one].shape[1] % self.count == 0 for one in ends)
        return is_whole and read.issuperset(group[:-1])

    def buffers(self, group: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The buffers of a function, by their tensors: their rows, and how many they get at a time.
        A tensor from outside is copied into one if windows leave it, or if it is fed."""
        return self._timed(group)[0]

    def freed(self, group: Sequence[str]) -> int:
        """The most bytes of buffers whose place the result's last rows may take: those that the
        result gets after a buffer was read for the last time. Buffers that keep no rows, or that
        the last layer reads, are not given away."""
        last = group[-1]
        if self._is_added_up(group, last) or self.is_mean(last):
            return 0
        found, starts, periods = self._timed(group)
        ended, ends = 0, []
        for name, (rows, each) in found.items():
            readers = [one for one in group if name in self.data(one)]
            if rows > each and last not in readers:
                ended += rows * self.graph.types[name].nbytes // self.graph.types[name].shape[1]
                ends.append(max(starts[r] + (self._times_of(r) - 1) * periods[r] for r in readers))
        if not ends:
            return 0
        kind = self.graph.types[last]
        written = max(0, -(-(min(ends) - starts[last]) // periods[last])) * self.count
        rest = max(0, kind.shape[1] - written) * kind.nbytes // kind.shape[1]
        return min(ended, rest)

    def _times_of(self, name: str) -> int:
        return -(-self.graph.types[name].shape[1] // self.count)

    def _timed(
        self, group: Sequence[str]
    ) -> tuple[dict[str, tuple[int, int]], dict[str, int], dict[str, int]]:
        """The buffers, the time of each layer's first rows, and that from one to the next."""
        chunks = self._chunks(group)
        periods, starts = self._periods(group, chunks), dict.fromkeys(chunks, 0)
        found = dict.fromkeys(chunks, 0)
        for name in group:
            needs = [
                (data, self._times(group, name, chunks[data]))
                for data in self.data(name)
                if data in chunks
            ]
            starts[name] = max((starts[d] + (n - 1) * periods[d] for d, n in needs), default=0)
            for data, _ in needs:
                times = (starts[name] - starts[data]) // periods[data] + 1
                above = self.reach(group, name).above
                found[data] = max(found[data], times * chunks[data] + above)
        return {name: (rows, chunks[name]) for name, rows in found.items()}, starts, periods

    def scratch(self, group: Sequence[str], name: str) -> int:
        """The least bytes of scratch with which a kernel can compute the rows of a layer."""
        key = (name, name == group[-1])
        if key not in self.known:
            own, graph = self._cut(group, name)
            self.known[key] = least_scratch(own, graph, self.cpu)
        return self.known[key]

    def sums(self, group: Sequence[str]) -> int:
        """The part of the last layer's scratch that is kept from one time to the next: sums, or the
        rows that would be kept without sums if these are fewer bytes."""
        data = self.graph.types[self.data(group[-1])[0]]
        if group[-1] in self.kept:
            return self.kept[group[-1]]
        if not self._is_added_up(group, group[-1]):
            return 0
        rest = max(0, data.shape[1] - self.count) * data.nbytes // data.shape[1]
        return min(self.scratch(group, group[-1]), rest)

    def data(self, name: str) -> list[str]:
        """The tensors with rows that a layer reads."""
        inputs = dict.fromkeys(self.nodes[name][0].inputs)
        return [one for one in inputs if one not in self.graph.constants]

    def is_mean(self, name: str) -> bool:
        """Whether the layer is a mean over all rows, and may have sums to which rows are added."""
        node, found = self.nodes[name]
        is_whole = found.extent == self.graph.types[node.inputs[0]].shape[1]
        return isinstance(node.attrs, AvgPool2DAttrs | MeanAttrs) and is_whole

    def _is_added_up(self, group: Sequence[str], name: str) -> bool:
        """Whether the layer may be a mean over all rows, to whose sums rows are added in turn."""
        return name == group[-1] and self.is_mean(name)

    def reach(self, group: Sequence[str], name: str) -> Reach:
        """The rows that a layer reads in a function."""
        return Reach() if self._is_added_up(group, name) else self.nodes[name][1]

    def _chunks(self, group: Sequence[str]) -> dict[str, int]:
        """The rows that each buffer gets at a time."""
        found: dict[str, int] = {}
        for name in group:
            for data in self.data(name):
                if data in group:
                    found[data] = self.count
                elif data in self.fed or self._leaves(group, name, data):
                    each = self.reach(group, name).stride * self.count
                    found[data] = min(each, found.get(data, each))
        copied = {name: rows for name, rows in found.items() if name in self.fed}
        return found | {name: math.gcd(rows, self.fed[name]) for name, rows in copied.items()}

    def _leaves(self, group: Sequence[str], name: str, data: str) -> bool:
        """Whether windows of a layer leave the tensor."""
        found, height = self.reach(group, name), self.graph.types[data].shape[1]
        computed = height if self._is_added_up(group, name) else self.graph.types[name].shape[1]
        computed = -(-computed // self.count) * self.count
        return found.above > 0 or found.of(computed) > height

    def _periods(self, group: Sequence[str], chunks: Mapping[str, int]) -> dict[str, int]:
        """The time from one chunk of a tensor to the next: a whole number of some unit."""
        strides = math.prod(self.reach(group, name).stride for name in group)
        periods = {group[-1]: strides * self.count}
        for name in reversed(group):
            for data in self.data(name):
                taken = self.reach(group, name).stride * self.count
                periods[data] = periods[name] * chunks.get(data, self.count) // taken
        return periods

    def _times(self, group: Sequence[str], name: str, chunk: int) -> int:
        """The number of times that a tensor gets rows before a reader can compute its first row."""
        found = self.reach(group, name)
        return max(1, -(-(found.of(self.count) - found.above) // chunk))

    def _cut(self, group: Sequence[str], name: str) -> tuple[Node, Graph]:
        """The layer for one step. Its data are the rows that the step reads, padding included."""
        kinds, (node, _) = self.graph.types, self.nodes[name]
        rows = dict.fromkeys(self.data(name), self.reach(group, name).of(self.count))
        if not self._is_added_up(group, name):
            rows[name] = self.count
        cut = {name: _with_rows(kinds[name], number) for name, number in rows.items()}
        attrs = node.attrs
        if isinstance(attrs, _Windowed):
            # The rows already include padding above and below.
            _, left, _, right = explicit(attrs.padding)
            attrs = dataclasses.replace(attrs, padding=(0, left, 0, right))
        elif isinstance(attrs, MeanAttrs):
            attrs = dataclasses.replace(attrs, rows=kinds[node.inputs[0]].shape[1])
        return dataclasses.replace(node, attrs=attrs), with_types(node, self.graph, cut)


def with_types(node: Node, graph: Graph, cut: Mapping[str, ArrayType]) -> Graph:
    """The graph with the types of one node's tensors, some of which are ``cut``."""
    # A copy of all types for each layer would take longer than everything else.
    names = (name for name in (*node.inputs, *node.outputs) if name in graph.types)
    return graph.replace(types={name: cut.get(name, graph.types[name]) for name in names})


def _with_rows(kind: ArrayType, rows: int) -> ArrayType:
    return dataclasses.replace(kind, shape=(kind.shape[0], rows, *kind.shape[2:]))
