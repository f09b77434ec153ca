"""FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.FullyConnectedOptions import FullyConnectedOptions
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat
from tflite.TensorType import TensorType as TensorTypeCode

from microgen.base.errors import short
from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.importers.arguments import is_hybrid, rounding
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Shape
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.dense.dense_hybrid import DenseHybridAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs


def _fully_connected(layer: Layer) -> Tensor:
    layer.expect_inputs(2, 3)
    options = layer.options(FullyConnectedOptions, BuiltinOptions.FullyConnectedOptions)
    if options.number("WeightsFormat") != FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise layer.unsupported("has shuffled weights", supported="the DEFAULT weights format")
    data, output = layer.data(0), layer.output()
    has_offset = data.dtype is DType.INT8 and layer.record(1).dtype in ("int8", "uint8")
    weight = layer.weights(1, rank=2, any_zero=has_offset)
    bias = layer.bias(2, weight.type.shape[0])
    activation, keep = layer.activation(options), bool(options.number("KeepNumDims"))
    shape = data.shape if keep else _rows(layer, data, weight.shape[1])
    if is_hybrid(data, weight):
        asymmetric = bool(options.number("AsymmetricQuantizeInputs"))
        hybrid = DenseHybridAttrs(activation, asymmetric, keep)
        inputs = (_flat(layer, data, shape), weight, *bias)
        return layer.emit("nn.dense_hybrid", hybrid, inputs, output)
    how = _rounding(layer, data, bias, options.number("QuantizedBiasType"))
    inputs = (_flat(layer, data, shape), weight, *bias)
    return layer.emit("nn.dense", DenseAttrs(activation, how, keep), inputs, output)


def _rounding(layer: Layer, data: Tensor, bias: tuple[Tensor, ...], declared: int) -> Rounding:
    """The rounding of the sums. LiteRT reads the bias of int16 data with the declared type, and an
    int32 bias without a declared type as int64. The sums of int16 data are always REAL there."""
    found = rounding(layer, "nn.dense", data, bias, declared)
    expected = DType.INT32 if declared == TensorTypeCode.INT32 else DType.INT64
    if found is Rounding.REAL and bias and bias[0].type.dtype is not expected:
        raise layer.unsupported(
            f'has a bias "{short(bias[0].name)}" of {bias[0].type.dtype.value}, but declares '
            f"{expected.value}",
            supported="int64 biases of int16 data, or int32 biases that are declared so",
        )
    return found


def _rows(layer: Layer, data: Tensor, features: int) -> Shape:
    """The data's shape as FULLY_CONNECTED reads it: [rows, features]."""
    if data.type.size % features:
        raise layer.invalid(
            f"has an input {data.type}, which cannot be rows of the weight's {features} features"
        )
    return data.type.size // features, features


def _flat(layer: Layer, data: Tensor, shape: Shape) -> Tensor:
    if data.shape == shape:
        return data
    return layer.emit("reshape", ReshapeAttrs(shape), (data,), hint=f"{layer.name}/flatten")


IMPORTERS: Mapping[str, Importer] = {
    "FULLY_CONNECTED": _fully_connected,
}
