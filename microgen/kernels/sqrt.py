"""Kernels for sqrt."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, unary

OP_NAME = "sqrt"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    scales = (("input_scale", data.scale), ("output_scale", output.scale))
    return (*unary.size(node, graph), *scales)


KERNELS = (
    unary.kernel("sqrt", DType.INT16, _params),
    unary.kernel("sqrt", DType.FLOAT32),
)
