"""Kernels for nn.softmax."""

from __future__ import annotations

from microgen.graph.arithmetic.int8 import softmax_parameters
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs, softmax_parameters_16
from microgen.kernels import base
from microgen.kernels.reductions import rows

OP_NAME = "nn.softmax"


def _beta(node: Node) -> float:
    assert isinstance(node.attrs, SoftmaxAttrs)
    return node.attrs.beta


def _int8(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    scaling = softmax_parameters(data, _beta(node))
    return (
        *rows.sizes(node, graph),
        ("input_multiplier", scaling.input_multiplier),
        ("input_left_shift", scaling.input_left_shift),
        ("diff_min", scaling.diff_min),
    )


def _int16(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    multiplier, shift = softmax_parameters_16(data, _beta(node))
    return (*rows.sizes(node, graph), ("multiplier", multiplier), ("shift", shift))


def _float(node: Node, graph: Graph) -> base.Fields:
    return (*rows.sizes(node, graph), ("beta", _beta(node)))


# Below, u is half a unit of the largest output. Exponentials and their sum, the difference and its
# product with beta, and the quotient contribute 5 u. For n values, 2 log(n) u are added, because an
# error of a difference is weighted with exp(-difference); with beta 1 the product is exact, which
# leaves log(n) u. So the bound holds for rows of up to 2**16 values, or about 250 for another beta.
_FLOAT_ULPS = 16

IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_softmax_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_int8,
    ),
    base.Implementation(
        symbol="mg_softmax_s8_s16",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8, DType.INT16),
        params=_int8,
    ),
    base.Implementation(
        symbol="mg_softmax_s16",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT16),
        params=_int16,
        in_place=base.as_is,
    ),
    base.Implementation(
        symbol="mg_softmax_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=_float,
        in_place=base.as_is,
        ulps=_FLOAT_ULPS,
    ),
)
