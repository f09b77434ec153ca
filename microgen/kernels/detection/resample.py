"""Kernels for resample."""

from __future__ import annotations

from math import prod

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.detection.sampling import ResampleAttrs
from microgen.kernels import base

OP_NAME = "resample"


def _axis(node: Node) -> int:
    assert isinstance(node.attrs, ResampleAttrs)
    return node.attrs.axis


def _params(node: Node, graph: Graph) -> base.Fields:
    (data, _, weights), _ = base.types(node, graph)
    axis = _axis(node)
    return (
        ("outer_size", prod(data.shape[:axis])),
        ("axis_size", data.shape[axis]),
        ("inner_size", prod(data.shape[axis + 1 :])),
        ("places", weights.shape[0]),
        ("terms", weights.shape[1]),
    )


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless all values are known to be inside the axis."""
    data, first, weights = node.inputs
    if first not in graph.constants:
        return f"{short(first)!r} is computed at run time, the kernel needs a constant"
    last = graph.types[data].shape[_axis(node)] - graph.types[weights].shape[1]
    found = graph.constants[first]
    if not 0 <= found.min() <= found.max() <= last:
        return f"{short(first)!r} has values outside of 0 to {last}"
    return base.only(DType.FLOAT32)(node, graph)


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_resample_f32",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        inputs=(0, 1, 2),
        ulps=2,  # products and sums may be fused
    ),
)
