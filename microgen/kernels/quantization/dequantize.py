"""Kernels for qnn.dequantize."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base

OP_NAME = "qnn.dequantize"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        ("input_bytes", data.dtype.nbytes),
        ("zero_point", data.zero_point),
        ("scale", data.scale),
    )


def _bytes_params(node: Node, graph: Graph) -> base.Fields:
    size, _, *rest = _params(node, graph)
    return (size, *rest)


def _signed_only(node: Node, graph: Graph) -> str | None:
    data = graph.types[node.inputs[0]].dtype
    return "the input is uint8" if data is DType.UINT8 else None


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_dequantize_f32",
        needs=base.REFERENCE,
        refusal=_signed_only,
        params=_params,
    ),
    base.Implementation(
        symbol="mg_dequantize_f32_u8",
        needs=base.REFERENCE,
        refusal=base.only(DType.UINT8, DType.FLOAT32),
        params=_bytes_params,
    ),
)
