"""Moves factors and offsets per channel, for example a batch normalization's, into the weights and
the bias of the float32 layer that they follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.compiler.passes.changes import Changes
from microgen.graph.arithmetic.terms import OPEN, Activation
from microgen.graph.ir.graph import Array, DType, Graph, Node
from microgen.graph.ops import floats

_CHANNELS = {  # layers -> the axis of the output's channels, its last one, in the weight
    "nn.conv2d": 0,
    "nn.conv2d_transpose": 0,
    "nn.dense": 0,
    "nn.depthwise_conv2d": 3,
}
_VIEW = "reshape"


def scale_weights(graph: Graph) -> Graph:
    """The graph in which float32 layers with constant weights also compute the constant sums and
    products per channel of their results, if nothing else reads these results.

    The layer then multiplies by rounded products of weights and factors, and adds in its own order,
    so floats may differ in their last bits. Integers do not change.
    """
    changes, readers = Changes(graph), _only_readers(graph)
    for node in graph.nodes:
        if _is_open(node, graph):
            _absorb(node, changes, readers)
    return changes.made()


@dataclass(slots=True)
class _Affine:
    """``data * factor + offset``, with one float64 number per channel."""

    factor: Array
    offset: Array
    activation: Activation = Activation.NONE

    def then(self, node: Node, values: Array) -> None:
        """Also apply a node with these values."""
        if node.op in ("multiply", "divide"):
            factor = 1 / values if node.op == "divide" else values
            self.factor, self.offset = self.factor * factor, self.offset * factor
        else:
            self.offset = self.offset + (-values if node.op == "subtract" else values)
        self.activation = node.attrs.activation  # type: ignore[attr-defined]


def _absorb(layer: Node, changes: Changes, readers: Mapping[str, Node]) -> None:
    """Move the sums and products after a layer into it."""
    channels = changes.graph.types[layer.outputs[0]].shape[-1]
    affine = _Affine(np.ones(channels), np.zeros(channels))
    steps = list(_steps(layer, changes.graph, readers))
    for node, values in steps:
        if values is not None:
            affine.then(node, values)
    absorbed = [node.outputs[0] for node, values in steps if values is not None]
    scaled = _scaled(layer, affine, changes) if absorbed else None
    if scaled:
        changes.gone.update(absorbed)
        views = (node for node, values in steps if values is None)
        changes.hand_down(steps[-1][0].outputs[0], scaled, views)


def _scaled(layer: Node, affine: _Affine, changes: Changes) -> Node | None:
    """The layer with its weights and bias scaled; None if a number would not be finite, or if
    the weights would no longer be the integers that the model stores."""
    is_scaled = bool((affine.factor != 1).any())
    # The model stores these weights as integers, and scaled ones would be floats.
    if is_scaled and layer.inputs[1] in changes.graph.stored:
        return None
    weight, *bias = (changes.graph.constants[name] for name in layer.inputs[1:])
    shape = [1] * weight.ndim
    shape[_CHANNELS[layer.op]] = -1
    with np.errstate(all="ignore"):
        scaled = floats.rounded(weight * affine.factor.reshape(shape))
        offset = sum((each * affine.factor for each in bias), start=affine.offset)
        moved = floats.rounded(np.asarray(offset))
    # For example because a variance is 0.
    if not (np.isfinite(scaled).all() and np.isfinite(moved).all()):
        return None
    attrs = dataclasses.replace(layer.attrs, activation=affine.activation)  # type: ignore[call-arg]
    data, own, *_ = layer.inputs
    # The arrays get new names, because other layers may still read the ones that they replace.
    if is_scaled:
        own = changes.constant(f"{layer.outputs[0]}#weight", scaled)
    inputs = (data, own, changes.constant(f"{layer.outputs[0]}#bias", moved))
    return dataclasses.replace(layer, attrs=attrs, inputs=inputs)


def _only_readers(graph: Graph) -> dict[str, Node]:
    """The reader of each tensor that one node reads once and that is not a result."""
    uses = graph.uses_of()
    return {name: node for node in graph.nodes for name in node.inputs if uses[name] == 1}


def _is_open(node: Node, graph: Graph) -> bool:
    """Whether the node is a float32 layer with constant weights and bias, and no clamp."""
    return (
        node.op in _CHANNELS
        and graph.types[node.outputs[0]].dtype is DType.FLOAT32
        and all(name in graph.constants for name in node.inputs[1:])
        and graph.types[node.inputs[1]].dtype is DType.FLOAT32
        and getattr(node.attrs, "activation", None) in OPEN
    )


def _steps(
    layer: Node, graph: Graph, readers: Mapping[str, Node]
) -> Iterator[tuple[Node, Array | None]]:
    """The nodes after the layer up to the last one that it can absorb, with a value per channel, or
    None for views between."""
    views: list[Node] = []
    name, channels = layer.outputs[0], graph.types[layer.outputs[0]].shape[-1]
    while name in readers and readers[name].place == layer.place:
        node = readers[name]
        values = _per_channel(node, name, graph, channels)
        if values is not None:
            yield from ((view, None) for view in views)
            yield node, values
            views = []
            # A factor after a clamp cannot move into the weights before it.
            if node.attrs.activation.clamps:  # type: ignore[attr-defined]
                return
        elif node.op == _VIEW and graph.types[node.outputs[0]].shape[-1:] == (channels,):
            views.append(node)
        else:
            return
        name = node.outputs[0]


def _per_channel(node: Node, data: str, graph: Graph, channels: int) -> Array | None:
    """The other operand of a sum or product with the data, as one number per channel; None if the
    node is another one, or its operand has other values."""
    if node.op not in ("add", "multiply", "divide", "subtract") or len(node.inputs) != 2:
        return None
    other = node.inputs[1] if node.inputs[0] == data else node.inputs[0]
    # constant / data is not affine, and constant - data would negate the weights.
    if other not in graph.constants or (
        node.op in ("divide", "subtract") and other != node.inputs[1]
    ):
        return None
    values = graph.constants[other]
    if graph.types[node.outputs[0]].shape != graph.types[data].shape:
        return None
    if values.size not in (1, channels) or values.shape[-1:] not in ((values.size,), ()):
        return None
    return np.broadcast_to(values.reshape(-1).astype(np.float64), (channels,))
