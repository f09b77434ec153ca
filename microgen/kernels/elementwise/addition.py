"""Kernels for sums, differences and squares of differences."""

from __future__ import annotations

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.addition import (
    AdditionAttrs,
    parameters,
    squared_difference_parameters,
)
from microgen.kernels import base
from microgen.kernels.elementwise import affine, broadcast, in_float32


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, AdditionAttrs)
    (lhs, rhs), output = base.types(node, graph)
    p = parameters(node.attrs, lhs, rhs, output)
    return broadcast.sum_params(p, node.attrs.activation, node, graph)


def kernels(op: str) -> tuple[base.Implementation, ...]:
    """``mg_<op>_<dtype>`` for every dtype, and the affine ones."""
    plain = broadcast.plain_params
    return (
        *affine.KERNELS,
        *in_float32.elementwise(op),
        in_float32.without(broadcast.kernel(f"mg_{op}_s8", DType.INT8, _params, is_scaled=True)),
        in_float32.without(
            broadcast.kernel(
                f"mg_{op}_s16", DType.INT16, _params, family="arithmetic_s16", is_scaled=True
            )
        ),
        broadcast.kernel(f"mg_{op}_s32", DType.INT32, plain, family="arithmetic_s32"),
        broadcast.kernel(f"mg_{op}_s64", DType.INT64, broadcast.shapes, family="arithmetic_s64"),
        broadcast.kernel(f"mg_{op}_f32", DType.FLOAT32, plain, family="arithmetic_f32"),
        *broadcast.of_integers(op, "integer_arithmetic", but=(DType.INT32, DType.INT64)),
    )


def _squared_difference_params(node: Node, graph: Graph) -> base.Fields:
    (lhs, rhs), output = base.types(node, graph)
    return broadcast.sum_params(
        squared_difference_parameters(lhs, rhs, output), Activation.NONE, node, graph
    )


BY_OP = {
    "add": kernels("add"),
    "subtract": kernels("subtract"),
    "squared_difference": (
        broadcast.kernel("mg_squared_difference_s8", DType.INT8, _squared_difference_params),
        broadcast.kernel(
            "mg_squared_difference_s32", DType.INT32, broadcast.shapes, family="arithmetic_s32"
        ),
        broadcast.kernel(
            "mg_squared_difference_f32", DType.FLOAT32, broadcast.shapes, family="arithmetic_f32"
        ),
    ),
}
