"""Kernels for qnn.dequantize."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, moves

OP_NAME = "qnn.dequantize"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        ("input_bytes", data.dtype.nbytes),
        ("zero_point", data.zero_point),
        ("scale", data.scale),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_dequantize_f32",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
    ),
)
