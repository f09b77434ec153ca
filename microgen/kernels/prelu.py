"""Kernels for nn.prelu."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast
from microgen.ops.prelu import parameters

OP_NAME = "nn.prelu"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data, alpha), output = base.types(node, graph)
    p = parameters(data, alpha, output)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        ("multiplier", p.multiplier),
        ("shift", p.shift),
        ("alpha_multiplier", p.alpha_multiplier),
        ("alpha_shift", p.alpha_shift),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_prelu_s8",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions(DType.INT8),
        params=_params,
        inputs=(0, 1),
        in_place=base.as_is,
    ),
)
