"""Layers that read or compute their channels in another order, because their weights are reordered.

Integers do not change. Floats are added in another order, so they may differ in their last bits.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from microgen.compiler.passes.arrangement import Arrangement, Shape
from microgen.compiler.passes.changes import Changes
from microgen.graph.ir.graph import Array, Node, Quant, Stored
from microgen.graph.ops.dense.dense import DenseAttrs, DenseHybridAttrs

_INPUTS = {  # layers of NHWC data, or of rows -> the axis of the input's channels in the weight
    "nn.conv2d": 3,
    "nn.conv2d_hybrid": 3,
    "nn.conv2d_transpose": 3,
    "nn.dense": 1,
    "nn.dense_hybrid": 1,
}
_OUTPUTS = ("nn.conv2d", "nn.conv2d_hybrid", "nn.conv2d_transpose", "nn.dense", "nn.dense_hybrid")
_BY_CHANNEL = {  # layers of each channel by itself -> the axes of channels in weight and bias
    "nn.avg_pool2d": (),
    "nn.depthwise_conv2d": (3, 0),
    "nn.depthwise_conv2d_hybrid": (3, 0),
    "nn.max_pool2d": (),
}


@dataclass(frozen=True, slots=True)
class Reordered:
    """A layer with reordered weights. ``data`` is the shape in which it reads the source of its
    input, and ``arranged`` makes its output of the new one; None if this is the same."""

    node: Node
    data: Shape
    arranged: Arrangement | None = None


@dataclass(slots=True)
class ChannelOrders:
    """Makes the reordered constants of layers, once for each order."""

    changes: Changes
    uses: Mapping[str, int]
    int4: set[str] = field(default_factory=set)
    stored: dict[str, Stored] = field(default_factory=dict)

    def reading(self, node: Node, arranged: Arrangement) -> Reordered | None:
        """The layer that reads the source of its data, which is ``arranged``; None if only its
        channels are reordered but its weights cannot be."""
        if node.op in _BY_CHANNEL:
            return self._by_channel(node, arranged)
        if node.op not in _INPUTS or not self._is_own(node.inputs[1:2]):
            return None
        axis = _INPUTS[node.op]
        channels = self.changes.types[node.inputs[1]].shape[axis]
        is_dense = isinstance(node.attrs, DenseAttrs | DenseHybridAttrs)
        # The filters of groups have fewer channels than the data.
        if not is_dense and arranged.shape[-1] != channels:
            return None
        found = _channels(arranged, channels)
        if found is None:
            return None
        weight = self._taken(node.inputs[1], axis, np.argsort(found.indices()))
        inputs = (node.inputs[0], weight, *node.inputs[2:])
        return Reordered(dataclasses.replace(node, inputs=inputs), arranged.shape)

    def writing(self, node: Node, wanted: Arrangement) -> Reordered | None:
        """The layer whose readers want its output ``wanted``, with its channels in that order;
        None if that is no order of channels, or its weights cannot be reordered."""
        if node.op not in _OUTPUTS or not self._is_own(node.inputs[1:]):
            return None
        data, weight = (self.changes.types[name].shape for name in node.inputs[:2])
        is_dense = isinstance(node.attrs, DenseAttrs | DenseHybridAttrs)
        # The filters of a group read other channels than those of the next group.
        found = _channels(wanted, weight[0]) if is_dense or weight[3] == data[-1] else None
        back = found.inverse() if found else None
        if found is None or back is None:
            return None
        order = found.indices()
        # Filters, then the bias.
        inputs = (node.inputs[0], *(self._taken(name, 0, order) for name in node.inputs[1:]))
        output = self.changes.types[node.outputs[0]].shape
        return Reordered(dataclasses.replace(node, inputs=inputs), data, _last_axis(output, back))

    def _by_channel(self, node: Node, arranged: Arrangement) -> Reordered | None:
        output, channels = self.changes.types[node.outputs[0]].shape, arranged.shape[-1]
        found = _channels(arranged, channels) if self._is_own(node.inputs[1:]) else None
        # With a multiplier, several channels read one.
        if found is None or output[-1] != channels:
            return None
        order, inputs = np.argsort(found.indices()), list(node.inputs)
        for position, axis in enumerate(_BY_CHANNEL[node.op][: len(inputs) - 1], 1):
            inputs[position] = self._taken(inputs[position], axis, order)
        now = dataclasses.replace(node, inputs=tuple(inputs))
        return Reordered(now, arranged.shape, _last_axis(output, found))

    def _is_own(self, names: tuple[str, ...]) -> bool:
        """Whether the tensors are constants that nothing else reads."""
        known = self.changes.constants
        return all(name in known and self.uses[name] == 1 for name in names)

    def _taken(self, name: str, axis: int, order: Array) -> str:
        """The constant with the indices of an axis in another order."""
        kind, value = self.changes.types[name], self.changes.constants[name]
        quant = kind.quant
        if quant is not None and quant.axis == axis:
            kind = dataclasses.replace(kind, quant=_reordered(quant, order))
        made = self.changes.constant(f"{name}#reordered", value.take(order, axis), kind)
        graph = self.changes.graph
        if name in graph.int4:
            self.int4.add(made)
        if name in graph.stored:
            own = graph.stored[name]
            quant = _reordered(own.quant, order) if own.quant.axis == axis else own.quant
            values = own.values.take(order, axis)
            self.stored[made] = dataclasses.replace(own, values=values, quant=quant)
        return made


def _reordered(quant: Quant, order: Array) -> Quant:
    """The quantization of an axis with its indices in another order."""
    scale, zero = (tuple(own[k] for k in order) for own in (quant.scale, quant.zero_point))
    return dataclasses.replace(quant, scale=scale, zero_point=zero)


def _channels(arranged: Arrangement, channels: int) -> Arrangement | None:
    """The arrangement of the last axis of a tensor of rows of ``channels`` elements, if only
    elements of the same row change places; None otherwise."""
    rows = math.prod(arranged.shape) // max(channels, 1)
    found = arranged.reshaped((rows, channels)).divided()
    if found is None:
        return None
    whole, runs = found
    sizes = whole.sizes
    before, own = ([k for k in run if sizes[k] != 1] for run in runs)
    source = sorted(own)
    if [*before, *source] != sorted([*before, *own]):
        return None
    order = tuple(source.index(k) for k in own)
    return Arrangement((tuple(sizes[k] for k in source),), order, (channels,))


def _last_axis(shape: Shape, channels: Arrangement) -> Arrangement:
    """The arrangement of a tensor of that shape whose last axis is arranged."""
    rank = len(shape) - 1
    parts = (*((size,) for size in shape[:-1]), *channels.parts)
    return Arrangement(parts, (*range(rank), *(rank + k for k in channels.order)), shape)
