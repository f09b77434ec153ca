"""UNIDIRECTIONAL_SEQUENCE_LSTM of float32 data with int8 weights.

Source: TFLite lstm_eval.cc, EvalHybrid. Each batch of a step's input and of the output state is
quantized once for all gates, so the layer is an nn.recurrent_hybrid whose states are variables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, Quant
from microgen.graph.ops import budget
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.recurrent.recurrent_hybrid import RecurrentHybridAttrs
from microgen.graph.ops.recurrent.recurrent_steps import ActivationFormula

_GATES = (0, 3, 1, 2)  # input, output, forget, cell: the places of a file's gates, in op's order
_WEIGHT, _RECURRENT, _BIAS, _HIDDEN, _CELL = 1, 5, 12, 18, 19
_EXTRAS = {9: "peepholes", 10: "peepholes", 11: "peepholes", 16: "a projection"}
_FUNCTIONS = tuple(map(ActivationFormula, ("sigmoid", "tanh", "tanh")))


def lstm(layer: FileLayer) -> BuiltTensor:
    """The layer's output. UnsupportedError for parts that nn.recurrent_hybrid does not have."""
    _refuse_extras(layer)
    data, is_by_time = layer.data(0), layer.flag("TimeMajor")
    layer.expect_rank(data, 3)
    data = data if is_by_time else _by_time(layer, data)
    steps, batches, _ = data.shape
    cells = layer.weights(_WEIGHT, 2).shape[0]
    weights = [
        _below_each_other(layer, [layer.weights(first + gate, 2) for gate in _GATES])
        for first in (_WEIGHT, _RECURRENT)
    ]
    biases = [_value(each) for gate in _GATES for each in layer.bias(_BIAS + gate, cells)]
    if len(biases) != len(_GATES):
        raise layer.invalid("lacks the biases of its gates")
    bias = layer.constant(np.stack(biases), f"{layer.name}/bias")
    states = [layer.variable(place) for place in (_HIDDEN, _CELL)]
    rows = [layer.reshaped(state, (batches, cells)) for state in states]
    attrs = RecurrentHybridAttrs(
        "lstm", _FUNCTIONS, asymmetric=layer.flag("AsymmetricQuantizeInputs")
    )
    inputs = (data, *weights, bias, *rows)
    every = layer.emit("nn.recurrent_hybrid", attrs, inputs, hint=f"{layer.name}/states")
    for number, state in enumerate(states):
        last = layer.reshaped(_cut(layer, every, steps + number, 1), state.shape)
        layer.become(state, last)
    kept = _cut(layer, every, 0, steps)
    if is_by_time or batches == 1:
        shape = (steps, batches, cells) if is_by_time else (batches, steps, cells)
        return layer.emit("reshape", ReshapeAttrs(shape), (kept,), layer.output())
    return layer.emit("transpose", TransposeAttrs((1, 0, 2)), (kept,), layer.output())


def _refuse_extras(layer: FileLayer) -> None:
    found = [what for place, what in _EXTRAS.items() if layer.has_input(place)]
    if not layer.has_input(_WEIGHT):
        found.append("no input gate of its own")
    if layer.real("CellClip") or layer.real("ProjClip"):
        found.append("a limit of its states")
    if found:
        raise layer.unsupported(
            f"has int8 weights for float32 data, and {found[0]}",
            supported="of such LSTMs those with four gates and no extras",
        )


def _by_time(layer: FileLayer, data: BuiltTensor) -> BuiltTensor:
    batches, steps, features = data.shape
    if batches == 1:
        return layer.reshaped(data, (steps, batches, features))
    return layer.emit("transpose", TransposeAttrs((1, 0, 2)), (data,), hint=f"{layer.name}/steps")


def _below_each_other(layer: FileLayer, tensors: Sequence[BuiltTensor]) -> BuiltTensor:
    """The matrices of all gates as one, whose rows keep their scales."""
    kinds = {(tensor.shape, tensor.dtype) for tensor in tensors}
    if len(kinds) != 1:
        types = ", ".join(str(tensor.type) for tensor in tensors)
        raise layer.invalid(f"has weights of different types in its gates: {types}")
    budget.spend_array(len(tensors) * tensors[0].type.nbytes, layer.where)
    values = np.concatenate([_value(tensor) for tensor in tensors])
    quants = [tensor.type.quant for tensor in tensors]
    if any(quant is None or not quant.is_per_tensor for quant in quants):
        # TFLite reads the first scale only.
        raise layer.unsupported(
            "has weights without a scale, or with one per channel",
            supported="weights with one scale per gate",
        )
    rows = values.shape[0] // len(tensors)
    scales = [quant.scale[0] for quant in quants if quant is not None for _ in range(rows)]
    quant = Quant(tuple(scales), (0,) * len(scales), 0)
    return layer.constant(values, tensors[0].name, quant, is_counted=True)


def _value(tensor: BuiltTensor) -> Array:
    assert tensor.value is not None, "weights and biases are constants"
    return tensor.value


def _cut(layer: FileLayer, states: BuiltTensor, row: int, count: int) -> BuiltTensor:
    attrs = StridedSliceAttrs((row, 0, 0), (1, 1, 1), (count, *states.shape[1:]))
    return layer.emit("strided_slice", attrs, (states,), hint=f"{layer.name}/cut")
