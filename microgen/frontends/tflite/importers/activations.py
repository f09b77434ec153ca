"""Activations that are separate layers, and SOFTMAX."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.SoftmaxOptions import SoftmaxOptions

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.unary.activations import ClipAttrs


def _softmax(layer: Layer) -> Tensor:
    layer.expect_inputs(1)
    options = layer.options(SoftmaxOptions, BuiltinOptions.SoftmaxOptions)
    beta = float(options.number("Beta"))
    if not 0.0 < beta < math.inf:
        raise layer.invalid(f"has beta {beta:g}; a positive, finite value is expected")
    return layer.emit("nn.softmax", SoftmaxAttrs(beta), (layer.data(0),), layer.output())


def _relu(activation: Activation) -> Importer:
    def importer(layer: Layer) -> Tensor:
        layer.expect_inputs(1)
        if activation is Activation.RELU6:
            _refuse_rescaling(layer)
        return layer.emit("clip", ClipAttrs(activation), (layer.data(0),), layer.output())

    return importer


def _refuse_rescaling(layer: Layer) -> None:
    """TensorFlow Lite Micro's RELU6 clamps stored values and ignores the output's scale."""
    data, output = layer.data(0).type, layer.output().type
    if layer.numerics.name == "tflm" and data.quant != output.quant:
        raise layer.unsupported(
            "has another scale or zero point than its input, which TensorFlow Lite Micro ignores",
            supported="one quantization for both, or --numerics litert",
        )


IMPORTERS: Mapping[str, Importer] = {
    "RELU": _relu(Activation.RELU),
    "RELU6": _relu(Activation.RELU6),
    "RELU_N1_TO_1": _relu(Activation.RELU_N1_TO_1),
    "SOFTMAX": _softmax,
}
