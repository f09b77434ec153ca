"""Pools and softmax of NCHW images, and operators with one value per channel."""

from __future__ import annotations

from microgen.frontends.toy.layers import Layer

from microgen.frontends import layouts
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.pooling.pooling import MaxPool2DAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs

_CHANNELS = 1


def _pool(layer: Layer) -> BuiltTensor:
    (data,) = layer.operands
    layer.expect(data, DType.FLOAT32)
    size = (layer.record["size"],) * 2
    attrs = MaxPool2DAttrs(size, size, (0, 0, 0, 0), Activation.NONE)
    found = layer.emit("nn.max_pool2d", attrs, (layer.laid_out(data, "NCHW", "NHWC"),))
    return layer.laid_out(found, "NHWC", "NCHW")


def _bias(layer: Layer) -> BuiltTensor:
    """Adds twice the second operand along the channels of the first.

    The sum of the second operand with itself is a constant if the operand is one.
    """
    data, bias = layer.operands
    twice = layer.emit("add", AddAttrs(Activation.NONE), (bias, bias), hint="twice")
    spread = layouts.along(layer, twice, _CHANNELS, len(data.shape))
    return layer.emit("add", AddAttrs(Activation.NONE), (data, spread))


def _softmax(layer: Layer) -> BuiltTensor:
    moved, source, target = layouts.axis_last(layer, layer.operands[0], _CHANNELS)
    return layer.laid_out(layer.emit("nn.softmax", SoftmaxAttrs(1.0), (moved,)), target, source)


def _scale(layer: Layer) -> BuiltTensor:
    data, factor = layer.operands
    if factor.value is None:
        raise layer.unsupported("has a computed factor", supported="constant factors")
    return layer.emit("multiply", MultiplyAttrs(Activation.NONE), (data, factor))


IMPORTERS = {"Bias": _bias, "Pool": _pool, "Scale": _scale, "Softmax": _softmax}
