"""Removes channels that are constant and channels that nothing reads."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

import numpy as np

from microgen.compiler.passes.changes import Changes
from microgen.compiler.passes.channel_demand import Masks, kept
from microgen.compiler.passes.channel_links import width
from microgen.compiler.passes.channel_ranges import Ranges, ranges
from microgen.compiler.passes.channel_sums import ChannelSums, sums_of
from microgen.compiler.passes.dead_code import dead_code
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, KeptChannels, Node, Quant
from microgen.graph.ops.moves.views import ReinterpretAttrs, ReshapeAttrs

_MOST = 2**22  # channels of all tensors; a small file can declare any number


def dead_channels(graph: Graph) -> Graph:
    """The graph without dead channels. A dead channel has one value for every input, or no layer
    reads it. The channels of a tensor are its last axis.

    Layers that read a constant channel get its contribution to their sums in their biases, so
    all other values are the same, bit for bit. ``Graph.channels`` says which channels are left.
    Results of the graph and tensors of nodes that mix channels in other ways keep all channels. So
    does a graph of more channels than can be looked at one by one.
    """
    sums = {node.outputs[0]: layer for node in graph.nodes if (layer := sums_of(node, graph))}
    if not sums or sum(map(width, graph.types.values())) > _MOST:
        return graph
    known = ranges(graph, sums)
    masks = kept(graph, sums, known)
    computed = {*graph.constants, *(name for node in graph.nodes for name in node.outputs)}
    if all(masks[name].all() for name in computed):
        return graph
    return dead_code(_Removal(graph, sums, known, masks).graph())


class _Removal:
    """Removes the dead channels of a graph, with the ranges and masks that were found for it."""

    def __init__(
        self, graph: Graph, sums: Mapping[str, ChannelSums], known: Ranges, masks: Masks
    ) -> None:
        self._graph, self._sums, self._ranges, self._masks = graph, sums, known, masks
        self._changes = Changes(graph)
        self._sliced: dict[str, str] = {}  # constant -> its kept part
        self._int4 = set(graph.int4)

    def graph(self) -> Graph:
        """The graph without these channels."""
        channels = dict(self._graph.channels)
        for name, mask in self._masks.items():
            if mask.all() or not mask.any():  # nothing is removed, or nothing reads the tensor
                continue
            if name in self._graph.constants:
                array = self._graph.constants[name]
                self._sliced[name] = self._taken(name, array, {-1: mask}, "kept")
                continue
            every = KeptChannels(len(mask), tuple(range(len(mask))))
            channels[name] = channels.get(name, every).without(mask)
            self._changes.types[name] = _sliced(self._graph.types[name], -1, mask)
        nodes = tuple(self._node(n) for n in self._graph.nodes if self._is_needed(n))
        return self._changes.made(nodes=nodes, int4=frozenset(self._int4), channels=channels)

    def _is_needed(self, node: Node) -> bool:
        mask = self._masks[node.outputs[0]]
        return bool(mask.any()) or not mask.size

    def _node(self, node: Node) -> Node:
        layer = self._sums.get(node.outputs[0])
        if layer is not None:
            return self._layer(layer)
        attrs: Attrs = node.attrs
        if isinstance(attrs, ReshapeAttrs | ReinterpretAttrs):
            attrs = dataclasses.replace(attrs, shape=self._changes.types[node.outputs[0]].shape)
        inputs = tuple(self._sliced.get(name, name) for name in node.inputs)
        return dataclasses.replace(node, attrs=attrs, inputs=inputs)

    def _layer(self, layer: ChannelSums) -> Node:
        """A layer of sums with the weights of the channels that are left."""
        data, weight, *bias = layer.node.inputs
        outputs = self._masks[layer.node.outputs[0]]
        features, taken = None, {layer.axis: outputs}
        if layer.inner is not None:
            features = taken[layer.inner] = self._masks[data][layer.source]
        if all(mask.all() for mask in taken.values()):
            return layer.node
        inputs = [data, self._constant(weight, self._graph.constants[weight], layer, taken)]
        added = self._folded(layer, features)
        if bias:
            inputs.append(self._bias(bias[0], added, layer))
        elif added[outputs].any():
            inputs.append(self._new_bias(added, layer))
        return dataclasses.replace(layer.node, inputs=tuple(inputs))

    def _folded(self, layer: ChannelSums, features: Array | None) -> Array:
        """The sum that the removed features add to each output, int64 [outputs]."""
        if features is None:
            return np.zeros(len(layer.bias), np.int64)
        low = self._ranges[layer.node.inputs[0]].low[layer.source] - layer.data.zero
        # A feature that is not constant is removed if all of its weights are 0, so its value does
        # not matter.
        return layer.of_parts(lambda p, n: np.asarray((p + n)[:, ~features] @ low[~features]))

    def _bias(self, name: str, added: Array, layer: ChannelSums) -> str:
        array, outputs = self._graph.constants[name], self._masks[layer.node.outputs[0]]
        whole = array + np.where(outputs, added, 0).astype(array.dtype)
        return self._constant(name, whole, layer, {0: outputs})

    def _new_bias(self, added: Array, layer: ChannelSums) -> str:
        array = added[self._masks[layer.node.outputs[0]]].astype(DType.INT32.numpy)
        return self._changes.constant(f"{layer.node.outputs[0]}#bias", array)

    def _constant(
        self, name: str, array: Array, layer: ChannelSums, taken: Mapping[int, Array]
    ) -> str:
        """The name of a layer's array with only the ``taken`` elements. It remains the constant's
        name if the array is unchanged."""
        is_whole = all(mask.all() for mask in taken.values())
        if is_whole and np.array_equal(array, self._graph.constants[name]):
            return name
        return self._taken(name, array, taken, layer.node.outputs[0])

    def _taken(self, name: str, array: Array, taken: Mapping[int, Array], what: str) -> str:
        """The name of a new constant that replaces the constant ``name``. It has only the elements
        of the array that ``taken`` selects along axes."""
        kind = self._graph.types[name]
        for axis, mask in taken.items():
            array, kind = np.compress(mask, array, axis), _sliced(kind, axis, mask)
        made = self._changes.constant(f"{name}#{what}", array, kind)
        # Its elements are stored in four bits, like the whole constant's.
        if name in self._graph.int4:
            self._int4.add(made)
        return made


def _sliced(kind: ArrayType, axis: int, mask: Array) -> ArrayType:
    """The type of a tensor of which an axis keeps only the indices in ``mask``."""
    axis %= len(kind.shape)
    shape = (*kind.shape[:axis], int(mask.sum()), *kind.shape[axis + 1 :])
    quant = kind.quant
    if quant is not None and quant.axis == axis and len(quant.scale) == len(mask):
        scales = tuple(itertools.compress(quant.scale, mask))
        quant = Quant(scales, tuple(itertools.compress(quant.zero_point, mask)), axis)
    return dataclasses.replace(kind, shape=shape, quant=quant)
