"""Kernels for nn.l2_normalize."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base

OP_NAME = "nn.l2_normalize"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    depth = data.shape[-1]
    return (
        ("outer_size", data.size // depth),
        ("depth", depth),
        ("input_offset", -data.zero_point),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_l2_normalize_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
        in_place=base.as_is,
    ),
)
