"""An implementation of nn.dense that microgen does not have: its only module."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.kernels import base, weights
from microgen.kernels.cost import Cost
from microgen.kernels.requantization.transforms import Arguments
from microgen.target.cpu import Cpu

OP_NAME = "nn.dense"


def _refusal(node: Node, graph: Graph) -> str | None:
    assert isinstance(node.attrs, DenseAttrs)
    if len(node.inputs) < 3 or node.attrs.rounding is not Rounding.SINGLE:
        return "it has no bias, or does not round once"
    if graph.types[node.outputs[0]].size != graph.types[node.inputs[1]].shape[0]:
        return "it has several rows"
    return None


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, DenseAttrs)
    inputs, output = base.types(node, graph)
    return (
        ("input_features", inputs[1].shape[1]),
        ("output_features", inputs[1].shape[0]),
        ("output_offset", output.zero),
        *base.activation_fields(node.attrs.activation, output),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    weight, _, multiplier, shift = weights.weights_and_tables(node, graph, "conv", 1)
    zero = graph.types[node.inputs[0]].zero_point
    folded = base.KernelConstant(
        "folded",
        "int32_t",
        node.inputs[1],
        transform="folded_bias",
        arguments=(("zero_point", zero),),
        more=((node.inputs[2], "data"),),
    )
    return weight, folded, multiplier, shift


def _folded_bias(sources: Sequence[Array], arguments: Arguments) -> Array:
    weight, bias = (source.astype(np.int64) for source in sources)
    folded = bias - int(arguments["zero_point"]) * weight.sum(axis=1)
    return folded.astype(np.int32)


def _cost(_node: Node, _graph: Graph, _cpu: Cpu, is_shared: bool) -> Cost:
    return Cost(1, 1, 1, 1 if is_shared else 0)


TRANSFORMS = {"folded_bias": _folded_bias}
IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_dense_s8_folded",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        constants=_constants,
        cost=_cost,
    ),
)
