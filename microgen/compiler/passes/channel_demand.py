"""Which channels of each tensor have to be computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from microgen.compiler.passes import channel_sums
from microgen.compiler.passes.channel_links import Link, depthwise, links, width
from microgen.compiler.passes.channel_ranges import Range, Ranges
from microgen.compiler.passes.channel_sums import ChannelSums
from microgen.graph.ir.graph import Array, DType, Graph, Node

# A layer of sums keeps a multiple of four channels if it has enough channels for that. On Cortex-M4
# vww needs 0.7 % fewer cycles for this, and 3 KB less code for 1.5 KB of constants. Multiples of 8
# or 16 cost cycles, also with MVE.
_STEP = 4  # kernels compute four channels at a time, and the remaining ones one by one

Masks = Mapping[str, Array]  # by tensor: which channels are kept, bool [channels]


def kept(graph: Graph, sums: Mapping[str, ChannelSums], ranges: Ranges) -> Masks:
    """The channels that are kept, because the network's results need them, or because a kept node
    could not be computed without them. All are False for a tensor that nothing needs.

    Every tensor that is needed keeps a channel.
    """
    demand = _Demand(graph, sums, ranges)
    # Demand goes from outputs to inputs, so this order visits most nodes once.
    demand.settle(reversed(graph.nodes))
    for node in reversed(graph.nodes):
        if node.outputs[0] in sums:
            demand.round_up(node.outputs[0])
    return demand.masks


@dataclass
class _Demand:
    """The channels found so far. Channels are only added, so this ends."""

    graph: Graph
    sums: Mapping[str, ChannelSums]
    ranges: Ranges
    masks: dict[str, Array] = field(init=False)
    _readers: dict[str, list[Node]] = field(init=False)
    _producers: dict[str, Node] = field(init=False)
    _waiting: deque[Node] = field(default_factory=deque)
    _queued: set[str] = field(default_factory=set)
    _links: dict[str, tuple[Link, ...]] = field(default_factory=dict)
    _foldable: dict[str, Array] = field(default_factory=dict)
    _is_read: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.graph
        self.masks = {name: np.zeros(width(kind), bool) for name, kind in graph.types.items()}
        self._producers = graph.producer_of()
        self._readers = {name: [] for name in graph.types}
        # The caller has inputs and results whole, and the next inference has variables whole.
        self._keep_whole((*graph.inputs, *graph.variables, *graph.results))
        for node in graph.nodes:
            self._connect(node)

    def _connect(self, node: Node) -> None:
        """Note how the node's channels are connected, and keep the channels that it always
        needs."""
        output, layer = node.outputs[0], self.sums.get(node.outputs[0])
        if layer is None:
            found = links(node, self.graph)
            followed = {link.position for link in found}
            if not found:
                self._keep_whole(node.outputs)
        else:
            found = depthwise(node, self.graph) if _is_depthwise(layer) else ()
            followed = {0}
            self._is_read[output] = layer.is_read()
            self._foldable[output] = _foldable(layer, self.ranges[node.inputs[0]])
        self._links[output] = found
        for link in found:
            self._readers[node.inputs[link.position]].append(node)
        self._keep_whole(name for k, name in enumerate(node.inputs) if k not in followed)

    def _keep_whole(self, names: Iterable[str]) -> None:
        for name in names:
            self.masks[name][:] = True

    def settle(self, nodes: Iterable[Node]) -> None:
        """Add the channels that these nodes need, and all channels that follow from them."""
        self._wake(nodes)
        while self._waiting:
            node = self._waiting.popleft()
            self._queued.discard(node.outputs[0])
            self._visit(node)

    def round_up(self, name: str) -> None:
        """Keep a multiple of four channels of a tensor if it has so many. Otherwise keep at least
        two, if it has several. Constant channels are added first, then others, in order."""
        mask = self.masks[name]
        lacking = -int(mask.sum()) % _STEP
        if mask.sum() + lacking > len(mask):
            # Two instead of one: a table of one scale is the table of a weight with one scale for
            # all channels (kernels/requantization/transforms.py), which may be multiplied in
            # float32.
            lacking = int(mask.sum() == 1 < len(mask))
        constant = self.ranges[name].is_constant if name in self.ranges else np.zeros_like(mask)
        spare = [*np.flatnonzero(~mask & constant), *np.flatnonzero(~mask & ~constant)]
        if lacking:
            wanted = np.zeros_like(mask)
            wanted[spare[:lacking]] = True
            self._add(name, wanted)
            self.settle(())

    def _wake(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node.outputs[0] not in self._queued:
                self._queued.add(node.outputs[0])
                self._waiting.append(node)

    def _add(self, name: str, wanted: Array) -> None:
        """Keep these channels, too. The node that computes the tensor and the nodes linked to it
        are visited again."""
        mask = self.masks[name]
        if not np.any(wanted & ~mask):
            return
        mask |= wanted
        self._wake(self._readers[name])
        if name in self._producers:
            self._wake((self._producers[name],))

    def _visit(self, node: Node) -> None:
        output = node.outputs[0]
        layer = self.sums.get(output)
        for link in self._links[output]:
            self._follow(node, link)
        if layer is not None and not _is_depthwise(layer):
            self._read(layer)

    def _follow(self, node: Node, link: Link) -> None:
        """Make a link's two tensors have the same channels."""
        name, output = node.inputs[link.position], node.outputs[0]
        has_source = link.source >= 0
        sources = link.source[has_source]
        wanted = np.zeros_like(self.masks[name])
        wanted[sources[self.masks[output][has_source]]] = True
        if self.masks[output].any() and not (wanted | self.masks[name]).any():
            wanted[0] = True  # an input of a concatenation
        self._add(name, wanted)
        if link.is_tied:
            made = np.zeros_like(self.masks[output])
            made[has_source] = self.masks[name][sources]
            self._add(output, made)

    def _read(self, layer: ChannelSums) -> None:
        """Keep the channels that the outputs of a layer of sums read and that cannot be folded."""
        name, output = layer.node.inputs[0], layer.node.outputs[0]
        mask = self.masks[output]
        needed = self._is_read[output][mask].any(axis=0) & ~self._foldable[output]
        wanted = np.zeros_like(self.masks[name])
        wanted[layer.source[needed]] = True
        if mask.any() and not (wanted | self.masks[name]).any():
            wanted[0] = True
        self._add(name, wanted)


def _is_depthwise(layer: ChannelSums) -> bool:
    return layer.inner is None


def _foldable(layer: ChannelSums, data: Range) -> Array:
    """Which features of a layer are constants that its bias can include: bool [features]."""
    low, high = (ends[layer.source] - layer.data.zero for ends in (data.low, data.high))
    is_constant = low == high
    largest = np.maximum(np.abs(low), np.abs(high))
    if _is_depthwise(layer):
        return np.zeros_like(is_constant)
    # No sum is larger, for any features in the bias and any order of adding them.
    totals = layer.of_parts(lambda p, n: np.asarray((p - n) @ largest)) + np.abs(layer.bias)
    # A bias that is made anew is int32.
    has_bias = len(layer.node.inputs) > 2 or layer.data.dtype is DType.INT8
    can_fold = has_bias and not layer.is_padded and bool((totals <= channel_sums.LAST).all())
    # A constant that means 0 adds nothing. Any other must not be in a padded window, because a
    # padded place means 0.
    return np.asarray(is_constant & ((low == 0) | can_fold))
