"""FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.FullyConnectedOptions import FullyConnectedOptions
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat

from microgen.frontends.tflite.layers import Importer, Layer, Step
from microgen.frontends.tflite.tensors import Tensor
from microgen.ir.graph import TensorType
from microgen.ops.dense import DenseAttrs
from microgen.ops.reshape import ReshapeAttrs


def _fully_connected(layer: Layer) -> tuple[Step, ...]:
    layer.expect_inputs(2, 3)
    options = layer.options(FullyConnectedOptions, BuiltinOptions.FullyConnectedOptions)
    if options.number("WeightsFormat") != FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise layer.unsupported("has shuffled weights", supported="the DEFAULT weights format")
    data, weight, output = layer.data(0), layer.weights(1, rank=2), layer.output()
    attrs = DenseAttrs(
        activation=layer.activation(options),
        rounding=layer.numerics.rounding["nn.dense"],
        keep_num_dims=bool(options.number("KeepNumDims")),
    )
    before = () if attrs.keep_num_dims else _flatten(layer, data, weight.type.shape[1], output)
    rows = before[-1].output if before else data
    inputs = (rows, weight, *layer.bias(2, weight.type.shape[0]))
    return (*before, Step("nn.dense", attrs, inputs, output))


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
