"""The kernel for nn.lstm with int8 data for MVE."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.constant import KernelConstant
from microgen.kernels.recurrent import lstm
from microgen.kernels.requantization import transforms
from microgen.kernels.work import Work, common

OP_NAME = lstm.OP_NAME
PRECEDENCE = 2
_BLOCK = 8  # cells whose gates' functions are computed at a time
_VECTOR = 16  # bytes


def _refusal(node: Node, graph: Graph) -> str | None:
    return lstm.with_extras(node, graph) or lstm.dsp_refusal(node, graph)


def _constants(node: Node, graph: Graph) -> tuple[KernelConstant, ...]:
    """The weights, and the biases of both sums."""
    types, names = lstm.types_of(node, graph), lstm.names_of(node)
    # The sums over the input and over the state have scales of their own, so their zero points
    # cannot be in one bias.
    zeros = (types.data.zero_point, graph.types[node.outputs[0]].zero_point)
    return (
        KernelConstant("input_weight", "int8_t", names.weight),
        KernelConstant("recurrent_weight", "int8_t", names.recurrent),
        _folded("bias", names.weight, zeros[0], names.bias),
        _folded("recurrent_bias", names.recurrent, zeros[1]),
    )


def _folded(name: str, weight: str, zero: int, bias: str = "") -> KernelConstant:
    return KernelConstant(
        name,
        "int32_t",
        weight,
        transform="fold_gates",
        arguments=(("zero", zero),),
        more=((bias, "data"),) if bias else (),
    )


# fold_gates: a weight of int8 [gates, cells, values], and its bias [gates, cells] if there is one;
# ``zero``. int32 [cells, gates]: the bias minus the zero point of the values times the sum of a
# cell's weights.
def _fold_gates(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    weight, *bias = sources
    sums = weight.sum(axis=-1, dtype=np.int64)
    folded = (bias[0].astype(np.int64) if bias else 0) - int(arguments["zero"]) * sums
    if np.abs(folded).max(initial=0) >= 2**31:
        raise ValueError("a folded bias leaves int32")
    return np.ascontiguousarray(folded.T.astype(np.int32))


TRANSFORMS: Mapping[str, transforms.Function] = {"fold_gates": _fold_gates}


def _work(node: Node, graph: Graph) -> Work:
    """Steps; blocks of cells; cells, and the vectors of their sums."""
    _, cells, features = lstm.types_of(node, graph).weight.shape
    steps = math.prod(graph.types[node.outputs[0]].shape) // cells
    vectors = -(-features // _VECTOR) + -(-cells // _VECTOR)
    return {
        **common(node, graph),
        "step": steps,
        "cell_block": steps * -(-cells // _BLOCK),
        "cell": steps * cells,
        "cell_vector": steps * cells * vectors,
    }


IMPLEMENTATIONS = (
    lstm.of_rows(lstm.INTEGER, "mg_lstm_s8_mve", base.MVE, _refusal, _constants, _work),
)
