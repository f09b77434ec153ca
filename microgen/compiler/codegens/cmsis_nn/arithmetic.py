"""The numbers that CMSIS-NN's functions get: multipliers, shifts, sums of weights."""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.int8 import conv_scales, dense_scales, per_channel_multipliers
from microgen.graph.ir.graph import Array, Graph, Node


def multipliers(node: Node, graph: Graph) -> tuple[Array, Array]:
    """Q31 multipliers and shifts (positive to the left) of a node with weights, int32: one of each
    per output channel, or one for all in a dense layer whose weights have one scale."""
    data, weight, output = graph.type_of((*node.inputs[:2], *node.outputs))
    rule = dense_scales if node.op == "nn.dense" else conv_scales
    scales = rule(data, weight, output)
    if node.op != "nn.dense":
        scales = np.broadcast_to(scales, output.shape[-1:])
    found, shifts = per_channel_multipliers(scales)
    return found, shifts.astype(np.int32)


def bias(node: Node, graph: Graph) -> Array:
    """The bias, int32 [channels]: zeros if the node has none, because some of CMSIS-NN's forms
    add to the pointer."""
    if len(node.inputs) > 2:
        return graph.constants[node.inputs[2]]
    return np.zeros(graph.types[node.outputs[0]].shape[-1:], np.int32)


def kernel_sums(node: Node, graph: Graph) -> Array:
    """The result of ``arm_vector_sum_s8`` for a dense layer: its bias minus the sum of each unit's
    weights times the input's zero point, int32 [units], modulo 2**32."""
    weight = graph.constants[node.inputs[1]].astype(np.int64)
    zero = graph.types[node.inputs[0]].zero_point
    sums: Array = bias(node, graph) - zero * weight.sum(axis=1)
    return sums.astype(np.int32)
