"""Kernels for nn.dense in float32, for cores with an FPU or with vectors of
floats."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.kernels import base, float_work, floats
from microgen.kernels.dense import dense

OP_NAME = "nn.dense"
PRECEDENCE = 2


def _params(node: Node, graph: Graph) -> base.Fields:
    output = graph.types[node.outputs[0]]
    clamp = base.activation_fields(base.attrs_of(node, DenseAttrs).activation, output)
    return (*dense.sizes(node, graph), *clamp)


IMPLEMENTATIONS = (
    floats.vectors(
        "dense_f32",
        base.only(DType.FLOAT32),
        _params,
        float_work.dense,
        floats.WIDE_BLOCKS,
    ),
    *floats.kernels("dense_f32", floats.refuses, _params, float_work.dense),
)
