"""FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.FullyConnectedOptions import FullyConnectedOptions
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat
from tflite.TensorType import TensorType as TensorTypeCode

from microgen.arithmetic.terms import Rounding
from microgen.errors import short
from microgen.frontends.tflite.importers.arguments import is_hybrid, rounding
from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.frontends.tflite.tensors import Tensor
from microgen.ir.graph import DType, TensorType
from microgen.ops.dense import DenseAttrs
from microgen.ops.dense_hybrid import DenseHybridAttrs
from microgen.ops.reshape import ReshapeAttrs


def _fully_connected(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2, 3)
    options = layer.options(FullyConnectedOptions, BuiltinOptions.FullyConnectedOptions)
    if options.number("WeightsFormat") != FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise layer.unsupported("has shuffled weights", supported="the DEFAULT weights format")
    data, weight, output = layer.data(0), layer.weights(1, rank=2), layer.output()
    bias = layer.bias(2, weight.type.shape[0])
    activation, keep = layer.activation(options), bool(options.number("KeepNumDims"))
    before = () if keep else _flatten(layer, data, weight.type.shape[1], output)
    inputs = (before[-1].output if before else data, weight, *bias)
    if is_hybrid(data, weight):
        asymmetric = bool(options.number("AsymmetricQuantizeInputs"))
        hybrid = DenseHybridAttrs(activation, asymmetric, keep)
        return (*before, Step("nn.dense_hybrid", hybrid, inputs, output))
    how = _rounding(layer, data, bias, options.number("QuantizedBiasType"))
    return (*before, Step("nn.dense", DenseAttrs(activation, how, keep), inputs, output))


def _rounding(layer: Layer, data: Tensor, bias: tuple[Tensor, ...], declared: int) -> Rounding:
    """LiteRT reads a bias of int16 data as what the options declare, an undeclared int32 one as
    int64; whatever it is, the sums are REAL."""
    found = rounding(layer, "nn.dense", data, bias, declared)
    expected = DType.INT32 if declared == TensorTypeCode.INT32 else DType.INT64
    if found is Rounding.REAL and bias and bias[0].type.dtype is not expected:
        raise layer.unsupported(
            f'has a bias "{short(bias[0].name)}" of {bias[0].type.dtype.value}, but declares '
            f"{expected.value}",
            supported="int64 biases of int16 data, or int32 biases that are declared so",
        )
    return found


def _flatten(layer: Layer, data: Tensor, features: int, output: Tensor) -> tuple[Step, ...]:
    """The reshape of data to [rows, features] that FULLY_CONNECTED implies, where it is one."""
    if data.type.size % features:
        raise layer.invalid(
            f"has an input {data.type}, which is not rows of the weight's {features} features"
        )
    shape = (data.type.size // features, features)
    if data.type.shape == shape:
        return ()
    flat = TensorType(shape, data.type.dtype, data.type.quant)
    rows = layer.derived(flat, f"{output.name}/flatten")
    return (Step("reshape", ReshapeAttrs(shape), (data,), rows),)


IMPORTERS: Mapping[str, Importer] = {
    "FULLY_CONNECTED": _fully_connected,
}
