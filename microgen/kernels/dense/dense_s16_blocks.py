"""Kernels for nn.dense in int16, for MVE and the DSP extension."""

from __future__ import annotations

import dataclasses
import functools

from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.kernels import base, weights
from microgen.kernels.constant import AS_IS, WeightLayout
from microgen.kernels.dense import dense
from microgen.kernels.requantization import layouts, wide

OP_NAME = "nn.dense"
PRECEDENCE = 5

# The reference kernel, whose fields these kernels take, too.
_PLAIN = next(kernel for kernel in dense.IMPLEMENTATIONS if kernel.symbol == "mg_dense_s16")
_RULES: dict[Rounding, weights.Rule] = {Rounding.REAL: "conv", Rounding.REDUCED: "dense"}


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal unless sums fit int32, and factors scale them exactly."""
    refusal = weights.constant_weights(
        node, graph, axis=0, dtype=DType.INT16, roundings=tuple(_RULES)
    ) or wide.sums(node, graph, 0)
    if refusal:
        return refusal
    if wide.is_possible(_factor(node, graph), graph):
        return None
    return "a scale has no factor of 64 bits that is proved to round all sums alike"


def _factor(node: Node, graph: Graph) -> base.KernelConstant:
    rounding = base.attrs_of(node, DenseAttrs).rounding
    scales = weights.scale_arguments(node, graph, _RULES[rounding], dense.scales(node, graph))
    arguments = (*scales, ("rounding", rounding.value))
    return base.KernelConstant(
        "factor", "int32_t", node.inputs[1], "scale", "wide_factors", arguments
    )


def _constants(
    node: Node, graph: Graph, *, layout: WeightLayout
) -> tuple[base.KernelConstant, ...]:
    weight = wide.weight_of(node, graph, layout)
    return weight, wide.narrow_bias(node, graph, 0), _factor(node, graph)


_VECTOR = dataclasses.replace(
    _PLAIN,
    symbol="mg_dense_s16_mve",
    needs=base.MVE,
    refusal=_refusal,
    constants=functools.partial(_constants, layout=AS_IS),
)
_PAIRS = dataclasses.replace(
    _VECTOR,
    symbol="mg_dense_s16_dsp",
    needs=base.DSP,
    constants=functools.partial(_constants, layout=layouts.PAIRS),
)


def _in_words(symbol: str) -> base.Implementation:
    """A kernel of ``dense_words_s16.h``, whose weights are stored as int16."""
    return dataclasses.replace(
        _PAIRS,
        symbol=symbol,
        constants=functools.partial(_constants, layout=layouts.WIDE_FOURS),
    )


IMPLEMENTATIONS = (
    _VECTOR,
    _PAIRS,
    _in_words("mg_dense_s16_words_dsp"),
    _in_words("mg_dense_s16_doubles_dsp"),
)
