"""Kernels for cast."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, moves

OP_NAME = "cast"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    return (
        ("size", output.size),
        ("input_bytes", data.dtype.nbytes),
        ("input_is_float", int(data.dtype is DType.FLOAT32)),
        ("output_bytes", output.dtype.nbytes),
        ("output_is_float", int(output.dtype is DType.FLOAT32)),
        ("output_is_bool", int(output.dtype is DType.BOOL)),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_cast",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
        in_place=moves.of_equal_size,
    ),
)
