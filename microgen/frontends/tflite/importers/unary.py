"""Operators that compute each element of one tensor, and SOFTMAX."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.LeakyReluOptions import LeakyReluOptions
from tflite.SoftmaxOptions import SoftmaxOptions

from microgen.frontends.tflite.layers import FileLayer, Importer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs
from microgen.graph.ops.elementwise.product import PReluAttrs
from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs, SoftmaxAttrs
from microgen.graph.ops.unary.activations import ClipAttrs, EluAttrs, HardSwishAttrs, LeakyReluAttrs
from microgen.graph.ops.unary.functions import (
    AbsAttrs,
    CeilAttrs,
    CosAttrs,
    ExpAttrs,
    FloorAttrs,
    LogAttrs,
    NegativeAttrs,
    RoundAttrs,
    SinAttrs,
)
from microgen.graph.ops.unary.roots import RsqrtAttrs, SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs, TanhAttrs


def _unary(op: str, attrs: Attrs) -> Importer:
    def importer(layer: FileLayer) -> BuiltTensor:
        layer.expect_inputs(1)
        return layer.emit(op, attrs, (layer.data(0),), layer.output())

    return importer


def _leaky_relu(layer: FileLayer) -> BuiltTensor:
    layer.expect_inputs(1)
    options = layer.options(LeakyReluOptions, BuiltinOptions.LeakyReluOptions)
    alpha = float(options.number("Alpha"))
    if not math.isfinite(alpha):
        raise layer.invalid(f"has alpha {alpha:g}; a finite value is expected")
    return layer.emit("nn.leaky_relu", LeakyReluAttrs(alpha), (layer.data(0),), layer.output())


def _prelu(layer: FileLayer) -> BuiltTensor:
    layer.expect_inputs(2)
    return layer.emit("nn.prelu", PReluAttrs(), (layer.data(0), layer.data(1)), layer.output())


def _softmax(layer: FileLayer) -> BuiltTensor:
    layer.expect_inputs(1)
    options = layer.options(SoftmaxOptions, BuiltinOptions.SoftmaxOptions)
    beta = float(options.number("Beta"))
    if not 0.0 < beta < math.inf:
        raise layer.invalid(f"has beta {beta:g}; a positive, finite value is expected")
    return layer.emit("nn.softmax", SoftmaxAttrs(beta), (layer.data(0),), layer.output())


def _relu(activation: Activation) -> Importer:
    def importer(layer: FileLayer) -> BuiltTensor:
        layer.expect_inputs(1)
        if activation is Activation.RELU6:
            _refuse_rescaling(layer)
        return layer.emit("clip", ClipAttrs(activation), (layer.data(0),), layer.output())

    return importer


def _refuse_rescaling(layer: FileLayer) -> None:
    data, output = layer.data(0).type, layer.output().type
    # TensorFlow Lite Micro's RELU6 clamps stored values and ignores the output's scale.
    if layer.numerics.name == "tflm" and data.quant != output.quant:
        raise layer.unsupported(
            "has another scale or zero point than its input, which TensorFlow Lite Micro ignores",
            supported="one quantization for both, or --numerics litert",
        )


IMPORTERS: Mapping[str, Importer] = {
    "ABS": _unary("abs", AbsAttrs()),
    "CEIL": _unary("ceil", CeilAttrs()),
    "COS": _unary("cos", CosAttrs()),
    "ELU": _unary("nn.elu", EluAttrs()),
    "EXP": _unary("exp", ExpAttrs()),
    "FLOOR": _unary("floor", FloorAttrs()),
    "HARD_SWISH": _unary("nn.hard_swish", HardSwishAttrs()),
    "LEAKY_RELU": _leaky_relu,
    "LOG": _unary("log", LogAttrs()),
    "LOGISTIC": _unary("sigmoid", SigmoidAttrs()),
    "LOG_SOFTMAX": _unary("nn.log_softmax", LogSoftmaxAttrs()),
    "NEG": _unary("negative", NegativeAttrs()),
    "PRELU": _prelu,
    "ROUND": _unary("round", RoundAttrs()),
    "RSQRT": _unary("rsqrt", RsqrtAttrs()),
    "SIN": _unary("sin", SinAttrs()),
    "SQRT": _unary("sqrt", SqrtAttrs()),
    "TANH": _unary("tanh", TanhAttrs()),
    "RELU": _relu(Activation.RELU),
    "RELU6": _relu(Activation.RELU6),
    "RELU_N1_TO_1": _relu(Activation.RELU_N1_TO_1),
    "SOFTMAX": _softmax,
}
