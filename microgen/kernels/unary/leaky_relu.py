"""Kernels for nn.leaky_relu."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.unary.activations import LeakyReluAttrs, leaky_relu_multipliers
from microgen.kernels import base
from microgen.kernels.unary import unary

OP_NAME = "nn.leaky_relu"


def _int16(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, LeakyReluAttrs)
    (data,), output = base.types(node, graph)
    (multiplier, shift), (alpha_multiplier, alpha_shift) = leaky_relu_multipliers(
        node.attrs, data, output
    )
    return (
        *unary.size(node, graph),
        ("multiplier", multiplier),
        ("shift", shift),
        ("alpha_multiplier", alpha_multiplier),
        ("alpha_shift", alpha_shift),
    )


def _float(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, LeakyReluAttrs)
    return (*unary.size(node, graph), ("alpha", node.attrs.alpha))


IMPLEMENTATIONS = (
    unary.kernel("leaky_relu", DType.INT16, _int16),
    unary.kernel("leaky_relu", DType.FLOAT32, _float),
)
