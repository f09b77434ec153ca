"""AVERAGE_POOL_2D, L2_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.Pool2DOptions import Pool2DOptions

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.importers.arguments import strides
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.frontends.tflite.options import Options
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs


def _average_pool2d(layer: Layer) -> Tensor:
    pool_size, strides, options = _pool(layer)
    window = (pool_size, strides, layer.padding(options), layer.activation(options))
    attrs = AvgPool2DAttrs(*window, ties_upward=layer.is_unsigned(0))
    return layer.emit("nn.avg_pool2d", attrs, (layer.data(0),), layer.output())


def _max_pool2d(layer: Layer) -> Tensor:
    pool_size, strides, options = _pool(layer)
    attrs = MaxPool2DAttrs(pool_size, strides, layer.padding(options), layer.activation(options))
    return layer.emit("nn.max_pool2d", attrs, (layer.data(0),), layer.output())


def _l2_pool2d(layer: Layer) -> Tensor:
    """The root of the mean of squares. Source: TFLite reference/pooling.h, L2Pool."""
    pool_size, strides, options = _pool(layer)
    data, output, activation = layer.data(0), layer.output(), layer.activation(options)
    layer.expect(data, DType.FLOAT32)
    attrs = AvgPool2DAttrs(pool_size, strides, layer.padding(options), Activation.NONE)
    squares = layer.emit(
        "multiply", MultiplyAttrs(Activation.NONE), (data, data), hint=f"{output.name}/squares"
    )
    means = layer.emit("nn.avg_pool2d", attrs, (squares,), hint=f"{output.name}/means")
    if activation is Activation.NONE:
        return layer.emit("sqrt", SqrtAttrs(), (means,), output)
    roots = layer.emit("sqrt", SqrtAttrs(), (means,), hint=f"{output.name}/roots")
    return layer.emit("clip", ClipAttrs(activation), (roots,), output)


def _pool(layer: Layer) -> tuple[Pair, Pair, Options]:
    layer.expect_inputs(1)
    options = layer.options(Pool2DOptions, BuiltinOptions.Pool2DOptions)
    pool_size = layer.positive_pair(options, "FilterHeight", "FilterWidth")
    return pool_size, strides(layer, options), options


IMPORTERS: Mapping[str, Importer] = {
    "AVERAGE_POOL_2D": _average_pool2d,
    "L2_POOL_2D": _l2_pool2d,
    "MAX_POOL_2D": _max_pool2d,
}
