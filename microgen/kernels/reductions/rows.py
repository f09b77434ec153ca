"""Kernels that compute along the last axis."""

from __future__ import annotations

from microgen.graph.arithmetic.int8 import softmax_parameters
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.l2_normalize import LEAST_LENGTH
from microgen.graph.ops.reductions.softmax import (
    SoftmaxAttrs,
    log_softmax_parameters,
    softmax_parameters_16,
)
from microgen.kernels import base


def sizes(node: Node, graph: Graph) -> base.Fields:
    """The numbers of rows and of elements per row. They are the first fields of these kernels."""
    output = graph.types[node.outputs[0]]
    depth = output.shape[-1]
    return (("outer_size", output.size // depth), ("depth", depth))


def beta(node: Node) -> float:
    """The factor of a softmax's exponents."""
    return base.attrs_of(node, SoftmaxAttrs).beta


def _softmax_int8(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    return (*sizes(node, graph), *base.fields_of(softmax_parameters(data, beta(node))))


def _softmax_int16(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    scale = softmax_parameters_16(data, beta(node))
    return (*sizes(node, graph), *base.scale_fields(scale))


def _softmax_float(node: Node, graph: Graph) -> base.Fields:
    return (*sizes(node, graph), ("beta", beta(node)))


# Below, u is half a unit of the largest output. Exponentials and their sum, the difference and its
# product with beta, and the quotient contribute 5 u. For n values, 2 log(n) u are added, because an
# error of a difference is weighted with exp(-difference); with beta 1 the product is exact, which
# leaves log(n) u. So the bound holds for rows of up to 2**16 values, or about 250 for another beta.
_SOFTMAX_FLOAT_ULPS = 16


def _log_softmax_int8(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    return (*sizes(node, graph), *base.fields_of(log_softmax_parameters(data)))


# As in softmax, the sum has a relative error. It is an absolute error of the sum's logarithm, which
# is at most the largest output: about 4 units. The logarithm and three roundings add the same.
_LOG_SOFTMAX_FLOAT_ULPS = 8


def _l2_normalize_int8(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    return (*sizes(node, graph), ("input_offset", -data.zero_point))


def _l2_normalize_float(node: Node, graph: Graph) -> base.Fields:
    return (*sizes(node, graph), ("least_length", LEAST_LENGTH))


# 3.5 for the squares and their sum (whose error the root halves), the root and the quotient, and 1
# for the reference's own roundings.
_L2_NORMALIZE_FLOAT_ULPS = 4


def _kernel(
    symbol: str, dtype: DType, params: base.Params, *, ulps: int = 0
) -> base.Implementation:
    """The kernel of one dtype, which reads each row before it writes it."""
    return base.Implementation(symbol, base.only(dtype), params, in_place=base.as_is, ulps=ulps)


BY_OP = {
    "nn.softmax": (
        base.Implementation("mg_softmax_s8", base.only(DType.INT8), _softmax_int8),
        base.Implementation("mg_softmax_s8_s16", base.only(DType.INT8, DType.INT16), _softmax_int8),
        _kernel("mg_softmax_s16", DType.INT16, _softmax_int16),
        _kernel("mg_softmax_f32", DType.FLOAT32, _softmax_float, ulps=_SOFTMAX_FLOAT_ULPS),
    ),
    "nn.log_softmax": (
        _kernel("mg_log_softmax_s8", DType.INT8, _log_softmax_int8),
        _kernel("mg_log_softmax_f32", DType.FLOAT32, sizes, ulps=_LOG_SOFTMAX_FLOAT_ULPS),
    ),
    "nn.l2_normalize": (
        _kernel("mg_l2_normalize_s8", DType.INT8, _l2_normalize_int8),
        _kernel(
            "mg_l2_normalize_f32",
            DType.FLOAT32,
            _l2_normalize_float,
            ulps=_L2_NORMALIZE_FLOAT_ULPS,
        ),
    ),
}
