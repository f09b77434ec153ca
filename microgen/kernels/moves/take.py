"""Kernels for take."""

from __future__ import annotations

import math

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.kernels import base
from microgen.kernels.moves import moves

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


def _reading(dtype: DType) -> base.Refuse:
    """Refusal unless the indices are of that dtype."""

    def refusal(node: Node, graph: Graph) -> str | None:
        found = graph.types[node.inputs[1]].dtype
        if found is dtype:
            return None
        return f"{short(node.inputs[1])!r} is {found.value}, the kernel reads {dtype.value}"

    return refusal


def _unknown(node: Node, graph: Graph) -> str | None:
    """Refusal unless all indices are int32, and known to be within the axis."""
    assert isinstance(node.attrs, TakeAttrs)
    name, other = node.inputs[1], _reading(DType.INT32)(node, graph)
    if other is not None:
        return other
    if name not in graph.constants:
        return f"{short(name)!r} is computed at run time, the kernel needs a constant"
    indices, size = graph.constants[name], graph.types[node.inputs[0]].shape[node.attrs.axis]
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        return f"{short(name)!r} has indices outside of 0 to {size - 1}"
    return None


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_take",
        needs=base.REFERENCE,
        refusal=_unknown,
        params=_params,
        inputs=(0, 1),
    ),
    base.Implementation(
        symbol="mg_take_computed",
        needs=base.REFERENCE,
        refusal=_reading(DType.INT32),
        params=_params,
        inputs=(0, 1),
        can_fail=True,
    ),
    base.Implementation(
        symbol="mg_take_computed_wide",
        needs=base.REFERENCE,
        refusal=_reading(DType.INT64),
        params=_params,
        inputs=(0, 1),
        can_fail=True,
    ),
)
