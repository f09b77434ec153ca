"""The kernels of nn.recurrent_hybrid."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops import hybrid
from microgen.graph.ops.recurrent.recurrent_hybrid import RecurrentHybridAttrs
from microgen.graph.ops.recurrent.recurrent_steps import GATES
from microgen.kernels import base
from microgen.kernels.recurrent import recurrent
from microgen.kernels.work import Work

OP_NAME = "nn.recurrent_hybrid"
_WEIGHT, _RECURRENT, _BIAS = 1, 2, 3


def _refusal(node: Node, graph: Graph) -> str | None:
    for name in node.inputs[_WEIGHT : _BIAS + 1]:
        if why := base.computed(name, graph):
            return why
    return base.only(DType.FLOAT32)(node, graph)


def _has_scales(name: str, graph: Graph) -> int:
    kind = graph.types[name]
    return int(kind.quant is not None and len(hybrid.scales(kind)) > 1)


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, RecurrentHybridAttrs)
    steps, batches, features = graph.types[node.inputs[0]].shape
    return (
        ("kind", list(GATES).index(attrs.kind)),
        ("steps", steps),
        ("batches", batches),
        ("features", features),
        ("cells", graph.types[node.outputs[0]].shape[2]),
        ("keeps", int(attrs.keeps)),
        ("reverse", int(attrs.reverse)),
        ("resets_after", int(attrs.resets_after)),
        ("asymmetric", int(attrs.asymmetric)),
        ("input_scales", _has_scales(node.inputs[_WEIGHT], graph)),
        ("recurrent_scales", _has_scales(node.inputs[_RECURRENT], graph)),
        *recurrent.function_fields(attrs),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    """Of both weights either int8 with scales or floats, the others NULL; then the bias."""
    every = list[base.KernelConstant]()
    for role, position in (("input", _WEIGHT), ("recurrent", _RECURRENT)):
        name = node.inputs[position]
        is_int8 = graph.types[name].dtype is DType.INT8
        integers, floats = (name, "") if is_int8 else ("", name)
        every += (
            base.KernelConstant(f"{role}_weight", "int8_t", integers),
            base.KernelConstant(f"{role}_scale", "float", integers, "scale"),
            base.KernelConstant(f"{role}_floats", "float", floats),
        )
    return (*every, base.KernelConstant("bias", "float", node.inputs[_BIAS]))


def _scratch(node: Node, graph: Graph) -> int:
    """The next hidden state of a sequence, of a GRU its reset gate, and two quantized rows."""
    halves = 2 if base.attrs_of(node, RecurrentHybridAttrs).kind == "gru" else 1
    cells = graph.types[node.outputs[0]].shape[2]
    return 4 * halves * cells + 2 * (graph.types[node.inputs[0]].shape[2] + cells)


def _work(node: Node, graph: Graph) -> Work:
    """Steps of sequences, cells of each kind, products with int8 weights, those that fours leave
    over, products with floats, and rows that are quantized with their values."""
    attrs = base.attrs_of(node, RecurrentHybridAttrs)
    steps, batches, features = graph.types[node.inputs[0]].shape
    count = graph.types[node.outputs[0]].shape[2]
    times, every = steps * batches, steps * batches * count * GATES[attrs.kind]
    is_int8 = [graph.types[node.inputs[i]].dtype is DType.INT8 for i in (_WEIGHT, _RECURRENT)]
    columns = [n for n, stored in zip((features, count), is_int8, strict=True) if stored]
    # A state of zeros is not quantized: that before the first step is, unless it is an input.
    kept = times - batches * (len(node.inputs) == _BIAS + 1)
    # A GRU quantizes the product of its hidden state and reset gate, too, unless it resets after.
    own = is_int8[1] * kept * (1 + (attrs.kind == "gru" and not attrs.resets_after))
    return {
        "call": 1,
        "output": graph.types[node.outputs[0]].size,
        "step": times,
        **{f"{kind}_cell": times * count * (attrs.kind == kind) for kind in GATES},
        **{f"{kind}_mac": every * sum(columns) * (attrs.kind == kind) for kind in GATES},
        "left": every * sum(n % 4 for n in columns),
        "float_cell": times * count * (False in is_int8),
        "float_mac": every * (features + count - sum(columns)),
        "row": times * is_int8[0] + own,
        "row_value": times * features * is_int8[0] + own * count,
    }


_PLAIN = base.Implementation(
    symbol="mg_recurrent_hybrid_f32",
    refusal=_refusal,
    params=_params,
    inputs=(0, 4, 5),
    constants=_constants,
    scratch=_scratch,
    cores=recurrent.CORES,
    work=_work,
    ulps=64,
)
IMPLEMENTATIONS = (
    dataclasses.replace(_PLAIN, symbol="mg_recurrent_hybrid_f32_dsp", needs=base.DSP),
    _PLAIN,
)
