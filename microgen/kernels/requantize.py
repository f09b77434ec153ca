"""Kernels for qnn.requantize."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, moves
from microgen.ops.requantize import requantize_multiplier

OP_NAME = "qnn.requantize"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    multiplier, shift = requantize_multiplier(data, output)
    return (
        ("size", output.size),
        *base.offsets(data, output),
        ("multiplier", multiplier),
        ("shift", shift),
    )


def _any_params(node: Node, graph: Graph) -> base.Fields:
    size, *rest = _params(node, graph)
    (data,), output = base.types(node, graph)
    return (
        size,
        ("input_bytes", data.dtype.nbytes),
        ("output_bytes", output.dtype.nbytes),
        *rest,
    )


KERNELS = (
    base.Kernel(
        symbol="mg_requantize_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
        in_place=base.as_is,
    ),
    base.Kernel(
        symbol="mg_requantize_int",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_any_params,
        in_place=moves.of_equal_size,
    ),
)
