"""Kernels for qnn.quantize."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, moves

OP_NAME = "qnn.quantize"


def _params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (
        ("size", output.size),
        ("output_bytes", output.dtype.nbytes),
        ("zero_point", output.zero_point),
        ("scale", output.scale),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_quantize_f32",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
    ),
)
