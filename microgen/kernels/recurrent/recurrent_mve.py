"""Kernels for nn.recurrent for MVE with floats."""

from __future__ import annotations

import dataclasses
import math

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs
from microgen.kernels import base
from microgen.kernels.constant import KernelConstant
from microgen.kernels.recurrent import recurrent
from microgen.kernels.work import Work

OP_NAME = "nn.recurrent"
PRECEDENCE = 1
_TILE = 4  # cells of a block
_WEIGHTS = (1, 2, 3)  # inputs: weights of the data and of the state, biases
_WHOLE = 8  # inputs of an LSTM with peepholes
# The gate of a GRU that has no weights: of the data the state's part of the hidden gate, and of the
# state the data's.
_ZEROS = {"gru": ((("zero", 3),), (("zero", 2),)), "lstm": ((), ())}


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal of computed weights, and of parts that vectors do not compute."""
    attrs = base.attrs_of(node, RecurrentAttrs)
    for position in _WEIGHTS:
        if why := base.computed(node.inputs[position], graph):
            return why
    if math.isfinite(attrs.clip):
        return f"sums of gates are clipped at {attrs.clip:g}, the kernel does not clip"
    if attrs.couples or len(node.inputs) == _WHOLE:
        return "it has peepholes or coupled gates, the kernel computes none"
    if attrs.kind == "gru" and not attrs.resets_after:
        return "the reset gate applies to the state, the kernel applies it to the product"
    return None


def _constants(node: Node, _graph: Graph) -> tuple[KernelConstant, ...]:
    weight, hidden, bias = (node.inputs[position] for position in _WEIGHTS)
    own, back = _ZEROS[base.attrs_of(node, RecurrentAttrs).kind]
    return (
        KernelConstant("input_weight", "float", weight, transform="gate_blocks", arguments=own),
        KernelConstant(
            "recurrent_weight", "float", hidden, transform="gate_blocks", arguments=back
        ),
        KernelConstant("bias", "float", bias),
    )


def _scratch(node: Node, graph: Graph) -> int:
    """The next hidden state of a sequence."""
    return 4 * graph.types[node.outputs[0]].shape[2]


def _work(node: Node, graph: Graph) -> Work:
    """Steps of sequences; blocks of cells, and their values."""
    steps, batches, features = graph.types[node.inputs[0]].shape
    cells = graph.types[node.outputs[0]].shape[2]
    blocks = steps * batches * -(-cells // _TILE)
    return {
        "call": 1,
        "output": graph.types[node.outputs[0]].size,
        "step": steps * batches,
        "cell_block": blocks,
        "block_value": blocks * (features + cells),
    }


def _kernel(usual: base.Implementation, kind: str) -> base.Implementation:
    def refusal(node: Node, graph: Graph) -> str | None:
        return usual.refusal(node, graph) or _refuses(node, graph)

    return dataclasses.replace(
        usual,
        symbol=f"mg_recurrent_{kind}_f32_mve",
        family="recurrent_f32_mve",
        variant=(f"MG_RECURRENT_{kind.upper()}",),
        needs=base.MVE_FLOAT,
        refusal=refusal,
        inputs=(0, 4, 5, 6),
        constants=_constants,
        scratch=_scratch,
        cores=(),
        work=_work,
    )


IMPLEMENTATIONS = tuple(
    _kernel(kernel, kind)
    for kind in _ZEROS
    for kernel in recurrent.BY_OP[OP_NAME]
    if kernel.symbol == f"mg_recurrent_{kind}_f32"
)
