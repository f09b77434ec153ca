"""Kernels for broadcast_to."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.moves import strided

OP_NAME = "broadcast_to"


def _strides(node: Node, graph: Graph) -> tuple[int, ...]:
    (data,), output = base.types(node, graph)
    shape = (*(1,) * (len(output.shape) - len(data.shape)), *data.shape)
    steps = strided.row_major(shape)
    return tuple(0 if size == 1 else step for size, step in zip(shape, steps, strict=True))


IMPLEMENTATIONS = (strided.copying(_strides),)
