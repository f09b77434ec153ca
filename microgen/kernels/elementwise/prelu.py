"""Kernels for nn.prelu."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.product import prelu_parameters
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast

OP_NAME = "nn.prelu"


def _int8(node: Node, graph: Graph) -> base.Fields:
    return (*broadcast.shapes(node, graph), *broadcast.offsets(node, graph), *_scaling(node, graph))


def _int16(node: Node, graph: Graph) -> base.Fields:
    alpha = graph.types[node.inputs[1]]
    offset = ("rhs_offset", -alpha.zero_point)
    return (*broadcast.shapes(node, graph), offset, *_scaling(node, graph))


def _scaling(node: Node, graph: Graph) -> base.Fields:
    (data, alpha), output = base.types(node, graph)
    p = prelu_parameters(data, alpha, output)
    return (
        ("multiplier", p.multiplier),
        ("shift", p.shift),
        ("alpha_multiplier", p.alpha_multiplier),
        ("alpha_shift", p.alpha_shift),
    )


IMPLEMENTATIONS = (
    broadcast.kernel("mg_prelu_s8", DType.INT8, _int8),
    broadcast.kernel("mg_prelu_s16", DType.INT16, _int16),
    broadcast.kernel("mg_prelu_f32", DType.FLOAT32, broadcast.shapes),
)
