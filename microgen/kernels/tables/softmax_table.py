"""Kernels for nn.softmax of int8 whose exponentials are in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.arithmetic.int8 import rounding_doubling_high_mul, softmax_parameters
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node, Quant
from microgen.graph.ops.fixed_point import exp_of_negative
from microgen.kernels import base
from microgen.kernels.reductions import rows
from microgen.kernels.requantization import transforms

OP_NAME = "nn.softmax"
PRECEDENCE = 1

_KIND = "softmax_exponentials"
_DIFFERENCES = 256  # of int8 values to the largest one


def _exponentials(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    """exp(-beta * scale * d) as Q0.31 for d from 0 until differences are ignored."""
    (scales,) = sources
    (scale,) = map(float, scales)
    data = ArrayType((), DType.INT8, Quant((scale,), (0,)))
    scaling = softmax_parameters(data, float(arguments["beta"]))
    # A difference below diff_min has the share 0, so it needs no entry.
    count = min(_DIFFERENCES, 1 - scaling.diff_min)
    shifted = -np.arange(count, dtype=np.int64) << scaling.input_left_shift
    return exp_of_negative(rounding_doubling_high_mul(shifted, scaling.input_multiplier)).astype(
        np.int32
    )


def _constants(node: Node, _graph: Graph) -> tuple[base.KernelConstant, ...]:
    beta = (("beta", rows.beta(node)),)
    (data,) = node.inputs
    return (base.KernelConstant("table", "int32_t", data, "scale", _KIND, beta),)


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    entries = min(_DIFFERENCES, 1 - softmax_parameters(data, rows.beta(node)).diff_min)
    return (*rows.sizes(node, graph), ("entries", entries))


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_softmax_s8_table",
        refusal=base.only(DType.INT8),
        params=_params,
        constants=_constants,
        in_place=base.as_is,
    ),
)

# softmax_exponentials: the input's scale float32 [1]; ``beta``. int32 [n], n is up to 256.
TRANSFORMS: Mapping[str, transforms.Function] = {_KIND: _exponentials}
