"""Kernels for products over axes."""

from __future__ import annotations

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.product import ProdAttrs, scale
from microgen.kernels import base
from microgen.kernels.reductions import reduction

OP_NAME = "prod"


def _fields(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    factor = scale(base.attrs_of(node, ProdAttrs), data, output)
    return (
        *reduction.shape_fields(node, graph),
        ("input_offset", -data.zero_point),
        *base.scale_fields(quantize_multiplier(factor)),
        ("output_offset", output.zero_point),
    )


IMPLEMENTATIONS = tuple(
    reduction.kernel(f"product_{base.suffix(dtype)}", dtype, _fields)
    for dtype in (DType.INT8, DType.INT16)
)
