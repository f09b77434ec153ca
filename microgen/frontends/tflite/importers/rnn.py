"""Simple recurrent layers: RNN and its forms for sequences."""

from __future__ import annotations

import numpy as np
from tflite.ActivationFunctionType import ActivationFunctionType
from tflite.BidirectionalSequenceRNNOptions import BidirectionalSequenceRNNOptions
from tflite.RNNOptions import RNNOptions
from tflite.SequenceRNNOptions import SequenceRNNOptions

from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Shape
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_steps import ActivationFormula

_FUNCTIONS = {
    ActivationFunctionType.RELU: ActivationFormula("relu"),
    ActivationFunctionType.TANH: ActivationFormula("tanh"),
}
_SWAPPED = TransposeAttrs((1, 0, 2))


def _rnn(layer: FileLayer) -> BuiltTensor:
    """One step for each batch."""
    data = _floats(layer, 2)
    steps = layer.reshaped(data, (1, *data.shape))
    states = _direction(layer, steps, 1)
    shape = states.shape[1:]
    last = layer.emit("strided_slice", StridedSliceAttrs((0, 0, 0), (1, 1, 1), (1, *shape)),
                      (states,))  # fmt: skip
    return layer.emit("reshape", ReshapeAttrs(shape), (last,), layer.output())


def _sequence(layer: FileLayer) -> BuiltTensor:
    states = _steps(layer, _of_sequence(layer), 1)
    return _result(layer, states, layer.output())


def _both_directions(layer: FileLayer) -> Value:
    is_merged = layer.flag("MergeOutputs")
    layer.expect_inputs(12, outputs=1 if is_merged else 2)
    if any(layer.has_input(position) for position in range(9, 12)):
        raise layer.unsupported("has an auxiliary input", supported="layers that read one input")
    data = _of_sequence(layer)
    forward, backward = _steps(layer, data, 1), _steps(layer, data, 5, reverse=True)
    if is_merged:
        states = layer.emit("concatenate", ConcatenateAttrs(2), (forward, backward))
        return _result(layer, states, layer.output())
    first, second = layer.outputs()
    return _result(layer, forward, first), _result(layer, backward, second)


def _floats(layer: FileLayer, rank: int) -> BuiltTensor:
    data = layer.data(0)
    layer.expect(data, DType.FLOAT32)
    layer.expect_rank(data, rank)
    return data


def _of_sequence(layer: FileLayer) -> BuiltTensor:
    """The data as [steps, batches, features]."""
    data = _floats(layer, 3)
    return data if layer.flag("TimeMajor") else layer.emit("transpose", _SWAPPED, (data,))


def _result(layer: FileLayer, states: BuiltTensor, output: BuiltTensor) -> BuiltTensor:
    if layer.flag("TimeMajor"):
        return layer.emit("reshape", ReshapeAttrs(states.shape), (states,), output)
    return layer.emit("transpose", _SWAPPED, (states,), output)


def _steps(
    layer: FileLayer, data: BuiltTensor, first: int, *, reverse: bool = False
) -> BuiltTensor:
    """The hidden state of each step."""
    states = _direction(layer, data, first, reverse=reverse)
    attrs = StridedSliceAttrs((0, 0, 0), (1, 1, 1), (data.shape[0], *states.shape[1:]))
    return layer.emit("strided_slice", attrs, (states,))


def _direction(
    layer: FileLayer, data: BuiltTensor, first: int, *, reverse: bool = False
) -> BuiltTensor:
    """The hidden states [steps + 1, batches, cells], the last one twice. ``first`` is the position
    of the weights. The weights of the state, the bias and the state follow them."""
    # Source: TFLite kernel_utils.cc, RnnBatchStep.
    weight, recurrent = layer.weights(first, 2), layer.weights(first + 1, 2)
    layer.expect(weight, DType.FLOAT32)
    layer.expect(recurrent, DType.FLOAT32)
    (steps, batches, features), cells = data.shape, weight.shape[0]
    bias, own = layer.bias(first + 2, cells), layer.variable(first + 3)
    shapes = (weight.shape, recurrent.shape, own.shape)
    if shapes != ((cells, features), (cells, cells), (batches, cells)) or not bias:
        raise layer.invalid(
            f"has weights {weight.type} and {recurrent.type} and the state {own.type} for "
            f"{features} features of {batches} sequences"
        )
    state = layer.state(
        ArrayType((batches, cells), DType.FLOAT32), np.zeros((), np.float32), "hidden"
    )
    lengths = layer.constant(np.full(batches, steps, np.int32), "lengths")
    gates: tuple[Shape, ...] = ((1, cells, features), (1, cells, cells), (1, cells))
    tensors = zip((weight, recurrent, *bias), gates, strict=True)
    inputs = (data, *(layer.reshaped(each, shape) for each, shape in tensors), lengths, state)
    attrs = RecurrentAttrs("rnn", (_function(layer),), reverse=reverse)
    states = layer.emit("nn.recurrent", attrs, inputs)
    last = StridedSliceAttrs((steps, 0, 0), (1, 1, 1), (1, batches, cells))
    kept = layer.emit("strided_slice", last, (states,))
    layer.become(state, layer.reshaped(kept, (batches, cells)))
    return states


def _function(layer: FileLayer) -> ActivationFormula:
    code = layer.option("FusedActivationFunction")
    if code not in _FUNCTIONS:
        raise layer.unsupported(f"has the activation number {code}", supported="RELU (1), TANH (4)")
    return _FUNCTIONS[code]


IMPORTERS = {
    "BIDIRECTIONAL_SEQUENCE_RNN": Importer(
        _both_directions, options=BidirectionalSequenceRNNOptions
    ),
    "RNN": Importer(_rnn, (5,), RNNOptions),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Importer(_sequence, (5,), SequenceRNNOptions),
}
