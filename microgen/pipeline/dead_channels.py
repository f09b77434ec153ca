"""The computations that the firmware saves because of dead channels, for the manifest."""

from __future__ import annotations

import math

from microgen.base.manifest import DeadChannelsRecord
from microgen.graph.ir.graph import Graph, KeptChannels, Node
from microgen.graph.ops import registry

_SUMS = ("nn.conv2d", "nn.dense", "nn.depthwise_conv2d")  # the ops with weights per channel


def records(graph: Graph) -> tuple[DeadChannelsRecord, ...]:
    """The layers of a graph after the passes whose outputs or inputs have lost channels."""
    return tuple(
        _record(node, graph)
        for node in graph.nodes
        if any(name in graph.channels for name in (*node.outputs, *node.inputs))
        # Views have the bytes of their inputs.
        and not registry()[node.op].is_view
    )


def _record(node: Node, graph: Graph) -> DeadChannelsRecord:
    output = _channels(node.outputs[0], graph)
    weights = products = 0
    if node.op in _SUMS:
        left = graph.types[node.inputs[1]].size
        # Weights are proportional to the number of output channels, and of input channels.
        before = left * output.count // len(output.kept)
        # A depthwise filter has weights for one channel only, whatever the number of inputs.
        if node.op != "nn.depthwise_conv2d":
            given = _channels(node.inputs[0], graph)
            before = before * given.count // len(given.kept)
        weights = before - left
        products = weights * math.prod(graph.types[node.outputs[0]].shape[:-1])
    return DeadChannelsRecord(
        layer=node.origin.layer,
        op=node.op,
        tensor=node.outputs[0],
        channels=output.count,
        kept=output.kept,
        weights=weights,
        products=products,
    )


def _channels(name: str, graph: Graph) -> KeptChannels:
    count = graph.types[name].shape[-1]
    return graph.channels.get(name, KeptChannels(count, tuple(range(count))))
