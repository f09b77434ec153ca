"""Kernels for broadcast_to."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, strided

OP_NAME = "broadcast_to"


def _strides(node: Node, graph: Graph) -> tuple[int, ...]:
    (data,), output = base.types(node, graph)
    shape = (*(1,) * (len(output.shape) - len(data.shape)), *data.shape)
    steps = strided.row_major(shape)
    return tuple(0 if size == 1 else step for size, step in zip(shape, steps, strict=True))


def _params(node: Node, graph: Graph) -> base.Fields:
    return strided.fields(node, graph, _strides(node, graph), 0)


def _refusal(node: Node, graph: Graph) -> str | None:
    return strided.too_many_axes(graph.types[node.outputs[0]].shape, _strides(node, graph))


KERNELS = (
    base.Kernel(
        symbol="mg_strided_copy",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
    ),
)
