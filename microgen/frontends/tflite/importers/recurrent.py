"""Operators that keep a state between inferences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tflite.ActivationFunctionType import ActivationFunctionType
from tflite.SVDFOptions import SVDFOptions
from tflite.UnidirectionalSequenceLSTMOptions import UnidirectionalSequenceLSTMOptions

from microgen.frontends.tflite import hybrid_lstm
from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from microgen.graph.ops import budget
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.recurrent import lstm_integer
from microgen.graph.ops.recurrent.lstm import LstmAttrs
from microgen.graph.ops.recurrent.svdf import SvdfAttrs
from microgen.graph.ops.reductions.reduction import SumAttrs
from microgen.graph.ops.unary import sigmoid
from microgen.graph.ops.unary.activations import ClipAttrs


def _svdf(layer: FileLayer) -> BuiltTensor:
    attrs = SvdfAttrs(layer.option("Rank"), layer.activation())
    if layer.plain(2).value is None:
        return _svdf_by_computed(layer, attrs)
    feature, time = layer.weights(1, 2), layer.weights(2, 2)
    state = layer.variable(4)
    if time.dtype is DType.INT8 and layer.numerics.name != "tflm":
        raise layer.unsupported(
            "has time weights of int8, which only TensorFlow Lite Micro computes",
            supported="int16 for both, or int8 for both with --numerics tflm",
        )
    # A unit has ``rank`` filters.
    bias = layer.bias(3, feature.shape[0] // max(attrs.rank, 1))
    inputs = (layer.data(0), feature, time, state, *bias)
    return layer.emit("nn.svdf", attrs, inputs, layer.output())


def _svdf_by_computed(layer: FileLayer, attrs: SvdfAttrs) -> BuiltTensor:
    """The steps of an SVDF of float32 whose time weights are computed."""
    data, feature, time, output = layer.data(0), layer.weights(1, 2), layer.data(2), layer.output()
    state = layer.variable(4)
    for each in (data, feature, time, state):
        layer.expect(each, DType.FLOAT32)
    layer.expect_rank(data, 2)
    layer.expect_rank(time, 2)
    (batches, _), (filters, memory) = data.shape, time.shape
    units = filters // max(attrs.rank, 1)
    if attrs.rank < 1 or units * attrs.rank != filters or feature.shape[0] != filters:
        raise layer.invalid(f"has filters {feature.type} and {time.type} of rank {attrs.rank}")
    if state.shape != (batches, memory * filters):
        raise layer.invalid(f"has a state {state.type} of {batches} times {filters} x {memory}")
    bias = layer.bias(3, units)
    memories = _remembered(layer, layer.emit("nn.dense", _PLAIN_DENSE, (data, feature)), memory)
    seen = layer.emit("multiply", MultiplyAttrs(Activation.UNLIMITED), (memories, time))
    sums = layer.reshaped(seen, (batches, units, attrs.rank * memory))
    last: tuple[str, Attrs, tuple[BuiltTensor, ...]] = ("sum", SumAttrs((2,), False), (sums,))
    if bias:
        last = ("add", AddAttrs(attrs.activation), (layer.emit(*last), *bias))
    elif attrs.activation.clamps:
        last = ("clip", ClipAttrs(attrs.activation), (layer.emit(*last),))
    return layer.emit(*last, output)


_PLAIN_DENSE = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=True)


def _remembered(layer: FileLayer, latest: BuiltTensor, memory: int) -> BuiltTensor:
    """The latest ``memory`` results [batches, filters, memory] of each filter, oldest first, which
    the next run continues."""
    batches, filters = latest.shape
    kind = ArrayType((batches, filters, memory), DType.FLOAT32)
    state = layer.state(kind, np.zeros((), np.float32), "memories")
    parts = [layer.reshaped(latest, (batches, filters, 1))]
    if memory > 1:
        kept = StridedSliceAttrs((0, 0, 1), (1, 1, 1), (batches, filters, memory - 1))
        parts.insert(0, layer.emit("strided_slice", kept, (state,)))
    memories = layer.emit("concatenate", ConcatenateAttrs(2), parts)
    layer.become(state, memories)
    return memories


# Positions of an LSTM's inputs. Groups of four are for the input, forget, cell and output gate;
# peepholes have no cell gate. Source: TFLite lstm_shared.h, namespace full.
_WEIGHT, _RECURRENT, _PEEPHOLE, _BIAS = range(1, 5), range(5, 9), range(9, 12), range(12, 16)
_PROJECTION, _PROJECTION_BIAS, _OUTPUT_STATE, _CELL_STATE, _NORMALIZATION = 16, 17, 18, 19, 20
_HIDDEN = 4  # position among the intermediates


def _lstm(layer: FileLayer) -> BuiltTensor:
    # The last four of 24 are the coefficients of layer normalization. Older files have 20 inputs.
    _refuse_normalization(layer)
    _refuse_other_runtimes(layer)
    activation = layer.option("FusedActivationFunction")
    if activation != ActivationFunctionType.TANH:
        raise layer.unsupported(f"has the activation number {activation}", supported="TANH (4)")
    if _is_hybrid(layer):
        return hybrid_lstm.lstm(layer)
    gates = slice(0 if _has_input_gate(layer) else 1, None)
    weight = [layer.weights(i, 2) for i in _WEIGHT[gates]]
    peephole = [layer.weights(i, 1) for i in _PEEPHOLE[gates] if layer.has_input(_PEEPHOLE[-1])]
    cells = weight[0].type.shape[0]
    inputs = [
        layer.data(0),
        _stacked(layer, weight),
        _stacked(layer, [layer.weights(i, 2) for i in _RECURRENT[gates]]),
        _stacked(layer, [tensor for i in _BIAS[gates] for tensor in layer.bias(i, cells)]),
        layer.variable(_OUTPUT_STATE),
        layer.variable(_CELL_STATE),
        *([_stacked(layer, peephole)] if peephole else []),
        *_projection(layer),
    ]
    attrs = _lstm_attrs(layer, inputs[0])
    if attrs.by_tables:
        _expect_rows(layer, inputs[4], cells)
    elif attrs.hidden is not None:
        _expect_tanh(layer, inputs[5])
    return layer.emit("nn.lstm", attrs, tuple(inputs), layer.output())


def _is_hybrid(layer: FileLayer) -> bool:
    kinds = {layer.weights(first + 1, 2).dtype for first in (_WEIGHT[0], _RECURRENT[0])}
    return layer.data(0).dtype is DType.FLOAT32 and kinds == {DType.INT8}


def _lstm_attrs(layer: FileLayer, data: BuiltTensor) -> LstmAttrs:
    by_tables = _is_by_tables(layer)
    has_hidden = data.type.dtype is DType.INT8 and not by_tables
    return LstmAttrs(
        time_major=layer.flag("TimeMajor"),
        cell_clip=layer.real("CellClip"),
        projection_clip=layer.real("ProjClip"),
        has_peephole=layer.has_input(_PEEPHOLE[-1]),
        has_projection=layer.has_input(_PROJECTION),
        hidden=layer.intermediate(_HIDDEN) if has_hidden else None,
        by_tables=by_tables,
    )


def _has_input_gate(layer: FileLayer) -> bool:
    """False for an LSTM that couples its input and forget gates (CIFG)."""
    parts = [layer.has_input(positions[0]) for positions in (_WEIGHT, _RECURRENT, _BIAS)]
    # TFLite drops the input gate as a whole or not at all.
    if any(parts) and not all(parts):
        raise layer.invalid(
            "has only a part of an input gate; both weights and the bias, or none, are expected"
        )
    return all(parts)


def _refuse_normalization(layer: FileLayer) -> None:
    if any(layer.has_input(position) for position in range(_NORMALIZATION, 24)):
        raise layer.unsupported(
            "normalizes its gates (it has layer normalization coefficients)",
            supported="LSTMs without layer normalization",
        )


def _refuse_other_runtimes(layer: FileLayer) -> None:
    dtype = layer.data(0).type.dtype
    if dtype is DType.INT16 and not layer.numerics.gates_by_tables:
        raise layer.unsupported(
            "is an int16 LSTM, which only TensorFlow Lite Micro computes",
            supported="int16 LSTMs with --numerics tflm",
        )
    if not _is_by_tables(layer):
        return
    layer.expect_inputs(24)
    extras = _extras(layer)
    if extras:
        raise layer.unsupported(
            f"{' and '.join(extras)}, which TensorFlow Lite Micro refuses",
            supported="integer LSTMs with four gates and no extras, or --numerics litert for int8",
        )


def _extras(layer: FileLayer) -> list[str]:
    # TensorFlow Lite Micro does not compute these of a layer of integers.
    extras = {
        "has no input gate of its own": not _has_input_gate(layer),
        "has peepholes": any(layer.has_input(position) for position in _PEEPHOLE),
        "has a projection": any(layer.has_input(i) for i in (_PROJECTION, _PROJECTION_BIAS)),
    }
    return [what for what, is_there in extras.items() if is_there]


def _expect_rows(layer: FileLayer, state: BuiltTensor, cells: int) -> None:
    # TensorFlow Lite Micro reads the number of cells from the output state.
    if state.type.shape[1:2] != (cells,):
        raise layer.invalid(
            f"has an output state of shape {list(state.type.shape)}; a row of {cells} for each "
            "sequence is expected"
        )


def _expect_tanh(layer: FileLayer, cell: BuiltTensor) -> None:
    """Raise if the profile's runtime lacks a tanh for the cell state, but the other runtime has one
    and can compute the layer.
    """
    scale = cell.type.scale
    power = sigmoid.power_of_two(scale)
    if power is not None and not (lstm_integer.has_tanh(scale) or _extras(layer)):
        raise layer.unsupported(
            f"has a cell state with the scale 2**{power}, for which LiteRT's int8 LSTM has no tanh",
            hint="generate with --numerics tflm: TensorFlow Lite Micro's has one for it",
        )


def _is_by_tables(layer: FileLayer) -> bool:
    """Whether the layer is of integers whose gates' functions are tables."""
    is_float = layer.data(0).type.dtype is DType.FLOAT32
    return layer.numerics.gates_by_tables and not is_float


def _projection(layer: FileLayer) -> tuple[BuiltTensor, ...]:
    if not layer.has_input(_PROJECTION):
        return ()
    weight = layer.weights(_PROJECTION, 2)
    return (weight, *layer.bias(_PROJECTION_BIAS, weight.type.shape[0]))


def _stacked(layer: FileLayer, tensors: Sequence[BuiltTensor]) -> BuiltTensor:
    """The constants of all gates as one, along a new first axis. Each keeps its own scale."""
    if not tensors:
        raise layer.invalid("lacks the biases of its gates")
    # Stacked constants are one array, so all must have one shape and dtype.
    kinds = {(tensor.type.shape, tensor.type.dtype) for tensor in tensors}
    if len(kinds) != 1:
        types = ", ".join(str(tensor.type) for tensor in tensors)
        raise layer.invalid(f"has weights or biases of different types in its gates: {types}")
    ((_, dtype),) = kinds
    budget.spend_array(len(tensors) * tensors[0].type.nbytes, layer.where)
    values = np.stack([_value(tensor) for tensor in tensors])
    quant = _quant_of_stack(layer, [tensor.type.quant for tensor in tensors])
    # A bias of int32 has the scale of its products, not one of its own.
    quant = quant if dtype is not DType.INT32 else None
    return layer.constant(values, tensors[0].name, quant, is_counted=True)


def _value(tensor: BuiltTensor) -> Array:
    assert tensor.value is not None, "Layer.weights and Layer.bias give constants"
    return tensor.value


def _quant_of_stack(layer: FileLayer, quants: Sequence[Quant | None]) -> Quant | None:
    """One scale for each of the stacked tensors, or none."""
    known = [quant for quant in quants if quant is not None]
    if not all(quant.is_per_tensor for quant in known):
        raise layer.unsupported(
            "has weights with a scale per channel", supported="weights with one scale per gate"
        )
    if not known:
        return None
    return Quant(tuple(quant.scale[0] for quant in known), (0,) * len(known), 0)


IMPORTERS = {
    "SVDF": Importer(_svdf, (5,), SVDFOptions),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Importer(_lstm, (20, 24), UnidirectionalSequenceLSTMOptions),
}
