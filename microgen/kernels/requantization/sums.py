"""Bounds of the sums of a layer."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from microgen.graph.arithmetic import blocks
from microgen.graph.ir.graph import Array, Graph, Node, frozen
from microgen.graph.ops.constraints import weight_zero
from microgen.kernels.identity import KEPT, Same


def largest_sums(node: Node, graph: Graph, axis: int) -> Array:
    """For each output channel, the largest magnitude of a sum that its weights can make from the
    data, and the magnitude of its bias: int64 [2, channels]. ``axis`` is the weight's axis of
    output channels."""
    data = graph.types[node.inputs[0]]
    limits = np.iinfo(data.dtype.numpy)
    farthest = max(int(limits.max) - data.zero_point, data.zero_point - int(limits.min))
    weight, *bias = (Same(graph.constants[name]) for name in node.inputs[1:])
    zero = weight_zero(graph.types[node.inputs[1]])
    return _largest_sums(weight, bias[0] if bias else None, zero, farthest, axis)


@lru_cache(KEPT)
def _largest_sums(
    weight: Same[Array], bias: Same[Array] | None, zero: int, farthest: int, axis: int
) -> Array:
    totals = blocks.by_channels(weight.value, axis, lambda x: np.abs(x - zero).sum(axis=1))
    products = totals * farthest
    start = np.zeros_like(products) if bias is None else bias.value.astype(np.int64)
    # -2**63 has no magnitude in int64.
    return frozen(np.stack([products, np.abs(np.clip(start, -(2**62), 2**62))]))
