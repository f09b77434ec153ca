"""Kernels for qnn.quantize."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base

OP_NAME = "qnn.quantize"


def _params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (
        ("size", output.size),
        ("output_bytes", output.dtype.nbytes),
        ("zero_point", output.zero_point),
        ("scale", output.scale),
    )


def _wide_params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (("size", output.size), ("scale", output.scale))


def _bytes_params(node: Node, graph: Graph) -> base.Fields:
    _, output = base.types(node, graph)
    return (("size", output.size), ("zero_point", output.zero_point), ("scale", output.scale))


def _narrow_only(node: Node, graph: Graph) -> str | None:
    output = graph.types[node.outputs[0]].dtype
    return None if output in (DType.INT8, DType.INT16) else f"the output is {output.value}"


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_quantize_f32",
        needs=base.REFERENCE,
        refusal=_narrow_only,
        params=_params,
    ),
    base.Implementation(
        symbol="mg_quantize_f32_u8",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32, DType.UINT8),
        params=_bytes_params,
    ),
    base.Implementation(
        symbol="mg_quantize_f32_s32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32, DType.INT32),
        params=_wide_params,
    ),
)
