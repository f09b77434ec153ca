"""FULLY_CONNECTED and BATCH_MATMUL."""

from __future__ import annotations

import math

import numpy as np
from tflite.BatchMatMulOptions import BatchMatMulOptions
from tflite.FullyConnectedOptions import FullyConnectedOptions
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat
from tflite.TensorType import TensorType as TensorTypeCode

from microgen.base.errors import short
from microgen.frontends.tflite.importers.arguments import Importer, is_hybrid, rounding
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType, Quant
from microgen.graph.ops.base import Shape
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs, DenseHybridAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.unary.activations import ClipAttrs


def _fully_connected(layer: FileLayer) -> BuiltTensor:
    if layer.option("WeightsFormat") != FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise layer.unsupported("has shuffled weights", supported="the DEFAULT weights format")
    if layer.plain(1).value is None:
        return _by_computed(layer)
    data, output = layer.data(0), layer.output()
    has_offset = data.dtype is DType.INT8 and layer.record(1).dtype in ("int8", "uint8")
    weight = layer.weights(1, rank=2, any_zero=has_offset)
    bias = layer.bias(2, weight.type.shape[0])
    activation, keep = layer.activation(), layer.flag("KeepNumDims")
    # With KeepNumDims the layer computes the last axis, and the others remain.
    shape = data.shape if keep else _dense_rows(layer, data, weight.shape[1])
    if is_hybrid(data, weight):
        asymmetric = layer.flag("AsymmetricQuantizeInputs")
        hybrid = DenseHybridAttrs(activation, asymmetric, keep)
        inputs = (_flat(layer, data, shape), weight, *bias)
        return layer.emit("nn.dense_hybrid", hybrid, inputs, output)
    how = _rounding(layer, data, bias, layer.option("QuantizedBiasType"))
    inputs = (_flat(layer, data, shape), weight, *bias)
    return layer.emit("nn.dense", DenseAttrs(activation, how, keep), inputs, output)


def _by_computed(layer: FileLayer) -> BuiltTensor:
    """A layer whose weights are computed: a product of two matrices."""
    data, weight, output, activation = (
        layer.data(0),
        layer.data(1),
        layer.output(),
        layer.activation(),
    )
    layer.expect_rank(weight, 2)
    layer.expect(data, DType.INT8, DType.INT16, DType.FLOAT32)
    layer.expect(weight, data.dtype)
    units, features = weight.shape
    if layer.flag("KeepNumDims") and data.shape[-1:] != (features,):
        raise layer.invalid(f"has an input {data.type} for the weight's {features} features")
    rows = _flat(layer, data, _dense_rows(layer, data, features))
    is_float = data.dtype is DType.FLOAT32
    bias = layer.bias(2, units)
    if bias and not is_float:
        raise layer.unsupported(
            "adds a bias to products of two computed integer tensors",
            supported="computed integer weights without a bias",
        )
    quant = output.type.quant
    attrs = BatchMatmulAttrs(False, True, rounds_once=not is_float)
    shape = (*data.shape[:-1], units) if layer.flag("KeepNumDims") else (rows.shape[0], units)
    # The steps after the product; the last one has the operator's output.
    steps: list[tuple[str, Attrs, tuple[BuiltTensor, ...]]] = [
        ("nn.batch_matmul", attrs, (weight,))
    ]
    if bias:
        steps.append(("add", AddAttrs(activation), bias))
    elif activation.clamps:
        steps.append(("clip", ClipAttrs(activation), ()))
    if shape != (rows.shape[0], units):
        steps.append(("reshape", ReshapeAttrs(shape), ()))
    for op, given, more in steps[:-1]:
        rows = layer.emit(op, given, (rows, *more), quant=quant, hint=f"{layer.name}/{op}")
    op, given, more = steps[-1]
    return layer.emit(op, given, (rows, *more), output)


def _rounding(
    layer: FileLayer, data: BuiltTensor, bias: tuple[BuiltTensor, ...], declared: int
) -> Rounding:
    """The rounding of the sums. UnsupportedError for a bias whose type is not the declared one."""
    # LiteRT reads the bias of int16 data with the declared type, and an int32 bias without a
    # declared type as int64. The sums of int16 data are always REAL there.
    rule = rounding(layer, "nn.dense", data, bias, declared)
    expected = DType.INT32 if declared == TensorTypeCode.INT32 else DType.INT64
    if rule is Rounding.REAL and bias and bias[0].type.dtype is not expected:
        raise layer.unsupported(
            f'has a bias "{short(bias[0].name)}" of {bias[0].type.dtype.value}, but declares '
            f"{expected.value}",
            supported="int64 biases of int16 data, or int32 biases that are declared so",
        )
    return rule


def _dense_rows(layer: FileLayer, data: BuiltTensor, features: int) -> Shape:
    """The data's shape as FULLY_CONNECTED reads it: [rows, features]."""
    if data.type.size % features:
        raise layer.invalid(
            f"has an input {data.type}, which cannot be rows of the weight's {features} features"
        )
    return data.type.size // features, features


def _flat(layer: FileLayer, data: BuiltTensor, shape: Shape) -> BuiltTensor:
    if data.shape == shape:
        return data
    return layer.emit("reshape", ReshapeAttrs(shape), (data,), hint=f"{layer.name}/flatten")


_BY_CHANNEL = {  # measured with ai-edge-litert 2.3.0; micro/micro_allocator.cc
    "litert": "LiteRT reads 0 as its scale, so that all products are 0",
    "tflm": "TensorFlow Lite Micro reads the first scale for all channels",
}


def _batch_matmul(layer: FileLayer) -> BuiltTensor:
    lhs = layer.data(0)
    if is_hybrid(lhs, layer.plain(1)):
        return _hybrid(layer, lhs)
    _refuse_channels(layer)
    rhs = layer.data(1)
    # The third option is for hybrid products.
    attrs = BatchMatmulAttrs(layer.flag("AdjX"), layer.flag("AdjY"))
    return layer.emit("nn.batch_matmul", attrs, (lhs, rhs), layer.output())


def _refuse_channels(layer: FileLayer) -> None:
    rhs = layer.plain(1)
    if rhs.type.quant is not None and not rhs.type.quant.is_per_tensor:
        raise layer.unsupported(
            f'multiplies by "{short(rhs.name)}", which has a scale per channel; '
            f"{_BY_CHANNEL[layer.numerics.name]}",
            supported="a scale per channel for float32 times int8",
        )


def _hybrid(layer: FileLayer, lhs: BuiltTensor) -> BuiltTensor:
    """float32 times int8."""
    # Each row of float32 is quantized and multiplied by the columns, as in a hybrid
    # FULLY_CONNECTED, so the product becomes one. Its weights have the columns as rows.
    rhs = layer.weights(1, rank=len(layer.plain(1).shape))
    if math.prod((*lhs.shape[:-2], *rhs.shape[:-2])) != 1:
        raise layer.unsupported(
            f"is a hybrid product of several matrices, {lhs.type} times {rhs.type}, in which "
            "LiteRT mixes up the scales",
            supported="one matrix of float32 times one of int8",
        )
    value, quant = rhs.value, rhs.type.quant
    assert value is not None, "Layer.weights gives constants"
    assert quant is not None, "int8 weights have a scale"
    matrix = value.reshape(rhs.shape[-2:])
    columns = -2 if layer.option("AdjY") else -1
    if quant.axis not in (None, len(rhs.shape) + columns):
        raise layer.invalid(
            f'has "{short(rhs.name)}" with a scale for each index of axis {quant.axis}; '
            f"one for each column, axis {len(rhs.shape) + columns}, is expected"
        )
    # ``nn.dense_hybrid`` wants a unit's weights in one row.
    weights = np.ascontiguousarray(matrix if columns == -2 else matrix.T)
    axis = None if quant.is_per_tensor else 0
    weight = layer.constant(
        weights, f"{layer.name}/columns", Quant(quant.scale, quant.zero_point, axis)
    )
    if layer.option("AdjX"):
        # The data's rows are its columns in the file.
        *batches, rows, depth = range(len(lhs.shape))
        lhs = layer.emit("transpose", TransposeAttrs((*batches, depth, rows)), (lhs,))
    asymmetric = layer.flag("AsymmetricQuantizeInputs")
    attrs = DenseHybridAttrs(Activation.NONE, asymmetric, keep_num_dims=True)
    return layer.emit("nn.dense_hybrid", attrs, (lhs, weight), layer.output())


IMPORTERS = {
    "FULLY_CONNECTED": Importer(_fully_connected, (2, 3), FullyConnectedOptions),
    "BATCH_MATMUL": Importer(_batch_matmul, (2,), optional=BatchMatMulOptions),
}
