"""Kernels for take."""

from __future__ import annotations

import math

from microgen.errors import short
from microgen.ir.graph import Graph, Node
from microgen.kernels import base, moves
from microgen.ops.take import TakeAttrs

OP_NAME = "take"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, TakeAttrs)
    data, indices = graph.type_of(node.inputs)
    batch_dims, axis = attrs.batch_dims, attrs.axis
    return (
        ("batches", math.prod(data.shape[:batch_dims])),
        ("outer_size", math.prod(data.shape[batch_dims:axis])),
        ("axis_size", data.shape[axis]),
        ("inner_bytes", math.prod(data.shape[axis + 1 :]) * data.dtype.nbytes),
        ("count", math.prod(indices.shape[batch_dims:])),
        *moves.element_bytes(node, graph),
    )


def _unknown(node: Node, graph: Graph) -> str | None:
    """Refusal unless all indices are known to be within the axis."""
    assert isinstance(node.attrs, TakeAttrs)
    name = node.inputs[1]
    if name not in graph.constants:
        return f"{short(name)!r} is computed at run time, the kernel needs a constant"
    indices, size = graph.constants[name], graph.types[node.inputs[0]].shape[node.attrs.axis]
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        return f"{short(name)!r} has indices outside of 0 to {size - 1}"
    return None


KERNELS = (
    base.Kernel(
        symbol="mg_take",
        needs=base.REFERENCE,
        refusal=_unknown,
        params=_params,
        inputs=(0, 1),
    ),
    base.Kernel(
        symbol="mg_take_computed",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
        inputs=(0, 1),
        can_fail=True,
    ),
)
