"""Kernels for take."""

from __future__ import annotations

import math

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.take import TakeAttrs

OP_NAME = "take"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, TakeAttrs)
    data, indices = graph.type_of(node.inputs)
    axis = node.attrs.axis
    return (
        ("outer_size", math.prod(data.shape[:axis])),
        ("axis_size", data.shape[axis]),
        ("inner_size", math.prod(data.shape[axis + 1 :])),
        ("count", indices.size),
    )


def _refusal(node: Node, graph: Graph) -> str | None:
    assert isinstance(node.attrs, TakeAttrs)
    name = node.inputs[1]
    if name not in graph.constants:
        return f"{name!r} is computed at run time, the kernel needs a constant"
    indices, size = graph.constants[name], graph.types[node.inputs[0]].shape[node.attrs.axis]
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        return f"{name!r} has indices outside of 0 to {size - 1}"
    return base.only(DType.INT8)(node, graph)


KERNELS = (
    base.Kernel(
        symbol="mg_take_s8",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        inputs=(0, 1),
    ),
)
