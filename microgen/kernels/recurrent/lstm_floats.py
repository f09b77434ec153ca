"""Kernels for nn.lstm in float32, for cores with an FPU or with vectors of floats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels import base
from microgen.kernels.constant import KernelConstant
from microgen.kernels.floats import FUSED
from microgen.kernels.recurrent import lstm
from microgen.kernels.requantization import transforms
from microgen.kernels.work import Work, common

OP_NAME = lstm.OP_NAME
PRECEDENCE = 3
_TILE = 4  # values whose products are added together, and cells of a block


def _blocks_refusal(node: Node, graph: Graph) -> str | None:
    return lstm.FLOAT.refusal(node, graph) or lstm.without_input_gate(node, graph)


def _vector_refusal(node: Node, graph: Graph) -> str | None:
    return _blocks_refusal(node, graph) or lstm.with_extras(node, graph)


def _sizes(node: Node, graph: Graph) -> tuple[int, int, tuple[int, int]]:
    """Steps of all sequences; cells; the values of each sum of a gate."""
    types = lstm.types_of(node, graph)
    _, cells, features = types.weight.shape
    output = graph.types[node.outputs[0]]
    return math.prod(output.shape[:2]), cells, (features, types.recurrent.shape[2])


def _blocks_work(node: Node, graph: Graph) -> Work:
    """Steps; cells; fours of values, and the values that are left."""
    steps, cells, values = _sizes(node, graph)
    return {
        **common(node, graph),
        "step": steps,
        "cell": steps * cells,
        "four": steps * cells * sum(n // _TILE for n in values),
        "left": steps * cells * sum(n % _TILE for n in values),
    }


def _vector_work(node: Node, graph: Graph) -> Work:
    """Steps; blocks of cells, and their values."""
    steps, cells, values = _sizes(node, graph)
    blocks = steps * -(-cells // _TILE)
    return {
        **common(node, graph),
        "step": steps,
        "cell_block": blocks,
        "block_value": blocks * sum(values),
    }


def _vector_constants(node: Node, _graph: Graph) -> tuple[KernelConstant, ...]:
    names = lstm.names_of(node)
    return (
        KernelConstant("input_weight", "float", names.weight, transform="gate_blocks"),
        KernelConstant("recurrent_weight", "float", names.recurrent, transform="gate_blocks"),
        KernelConstant("bias", "float", names.bias),
    )


# gate_blocks: float32 weights [gates, cells, values] as [blocks of four cells, values, gates, 4];
# cells that the last block lacks have weights of 0, and so has a gate before the gate ``zero``, if
# there is that argument.
def _gate_blocks(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    if "zero" in arguments:
        weight = np.insert(weight, int(arguments["zero"]), 0, axis=0)
    gates, cells, values = weight.shape
    padded = np.pad(weight, ((0, 0), (0, -cells % _TILE), (0, 0)))
    blocks = padded.reshape(gates, -1, _TILE, values).transpose(1, 3, 0, 2)
    return np.ascontiguousarray(blocks)


TRANSFORMS: Mapping[str, transforms.Function] = {"gate_blocks": _gate_blocks}

_VECTOR = lstm.of_rows(
    lstm.FLOAT, "mg_lstm_f32_mve", base.MVE_FLOAT, _vector_refusal, _vector_constants, _vector_work
)

IMPLEMENTATIONS = (
    _VECTOR,
    *(
        dataclasses.replace(
            lstm.FLOAT,
            symbol=f"mg_lstm_f32_{name}",
            family="lstm_f32_blocks",
            variant=(constant,),
            needs=base.FPU,
            refusal=_blocks_refusal,
            work=_blocks_work,
        )
        for name, constant in FUSED.items()
    ),
)
