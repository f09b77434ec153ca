"""Scratch memory of the kernels for weights that the model stores in 4 bits, which unpack them."""

from __future__ import annotations

import math

from microgen.graph.ir.graph import Graph, Node


def one_filter(node: Node, graph: Graph) -> int:
    """Scratch for the weights of one output channel, in bytes."""
    return math.prod(graph.types[node.inputs[1]].shape[1:])


def four_filters(node: Node, graph: Graph) -> int:
    """Scratch for the weights of four output channels, or of all channels if there are fewer than
    four.
    """
    return min(4, graph.types[node.inputs[1]].shape[0]) * one_filter(node, graph)


def all_weights(node: Node, graph: Graph) -> int:
    """Scratch for all weights, in bytes."""
    return graph.types[node.inputs[1]].size
