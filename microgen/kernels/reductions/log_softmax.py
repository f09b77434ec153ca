"""Kernels for nn.log_softmax."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.softmax import log_softmax_parameters
from microgen.kernels import base
from microgen.kernels.reductions import rows

OP_NAME = "nn.log_softmax"


def _int8(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    p = log_softmax_parameters(data)
    return (
        *rows.sizes(node, graph),
        ("input_multiplier", p.input_multiplier),
        ("input_left_shift", p.input_left_shift),
        ("diff_min", p.diff_min),
        ("reverse_multiplier", p.reverse_multiplier),
        ("reverse_shift", p.reverse_shift),
    )


# As in softmax, the sum has a relative error. It is an absolute error of the sum's logarithm, which
# is at most the largest output: about 4 units. The logarithm and three roundings add the same.
_FLOAT_ULPS = 8

IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_log_softmax_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_int8,
        in_place=base.as_is,
    ),
    base.Implementation(
        symbol="mg_log_softmax_f32",
        needs=base.REFERENCE,
        refusal=base.only(DType.FLOAT32),
        params=rows.sizes,
        in_place=base.as_is,
        ulps=_FLOAT_ULPS,
    ),
)
