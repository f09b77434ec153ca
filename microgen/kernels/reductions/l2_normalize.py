"""Kernels for nn.l2_normalize."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.l2_normalize import LEAST_LENGTH
from microgen.kernels import base
from microgen.kernels.reductions import rows

OP_NAME = "nn.l2_normalize"


def _int8(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    return (*rows.sizes(node, graph), ("input_offset", -data.zero_point))


def _float(node: Node, graph: Graph) -> base.Fields:
    return (*rows.sizes(node, graph), ("least_length", LEAST_LENGTH))


# 3.5 for the squares and their sum (whose error the root halves), the root and the quotient, and 1
# for the reference's own roundings.
_FLOAT_ULPS = 4

IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_l2_normalize_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_int8,
        in_place=base.as_is,
    ),
    base.Implementation(
        symbol="mg_l2_normalize_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_float,
        in_place=base.as_is,
        ulps=_FLOAT_ULPS,
    ),
)
