"""Operators that compute each element of one tensor, and SOFTMAX."""

from __future__ import annotations

import math

from tflite.LeakyReluOptions import LeakyReluOptions
from tflite.SoftmaxOptions import SoftmaxOptions

from microgen.frontends.tflite.importers.arguments import Importer, plain
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
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


def _leaky_relu(layer: FileLayer) -> BuiltTensor:
    alpha = layer.real("Alpha")
    if not math.isfinite(alpha):
        raise layer.invalid(f"has alpha {alpha:g}; a finite value is expected")
    return layer.emit("nn.leaky_relu", LeakyReluAttrs(alpha), (layer.data(0),), layer.output())


def _softmax(layer: FileLayer) -> BuiltTensor:
    beta = layer.real("Beta")
    if not 0.0 < beta < math.inf:
        raise layer.invalid(f"has beta {beta:g}; a positive, finite value is expected")
    return layer.emit("nn.softmax", SoftmaxAttrs(beta), (layer.data(0),), layer.output())


def _relu6(layer: FileLayer) -> BuiltTensor:
    data, output = layer.data(0).type, layer.output().type
    # TensorFlow Lite Micro's RELU6 clamps stored values and ignores the output's scale.
    if layer.numerics.name == "tflm" and data.quant != output.quant:
        raise layer.unsupported(
            "has another scale or zero point than its input, which TensorFlow Lite Micro ignores",
            supported="one quantization for both, or --numerics litert",
        )
    return layer.computed("clip", ClipAttrs(Activation.RELU6))


IMPORTERS = {
    "ABS": plain("abs", AbsAttrs()),
    "CEIL": plain("ceil", CeilAttrs()),
    "COS": plain("cos", CosAttrs()),
    "ELU": plain("nn.elu", EluAttrs()),
    "EXP": plain("exp", ExpAttrs()),
    "FLOOR": plain("floor", FloorAttrs()),
    "HARD_SWISH": plain("nn.hard_swish", HardSwishAttrs()),
    "LEAKY_RELU": Importer(_leaky_relu, (1,), LeakyReluOptions),
    "LOG": plain("log", LogAttrs()),
    "LOGISTIC": plain("sigmoid", SigmoidAttrs()),
    "LOG_SOFTMAX": plain("nn.log_softmax", LogSoftmaxAttrs()),
    "NEG": plain("negative", NegativeAttrs()),
    "PRELU": plain("nn.prelu", PReluAttrs(), 2),
    "ROUND": plain("round", RoundAttrs()),
    "RSQRT": plain("rsqrt", RsqrtAttrs()),
    "SIN": plain("sin", SinAttrs()),
    "SQRT": plain("sqrt", SqrtAttrs()),
    "TANH": plain("tanh", TanhAttrs()),
    "RELU": plain("clip", ClipAttrs(Activation.RELU)),
    "RELU6": Importer(_relu6, (1,)),
    "RELU_N1_TO_1": plain("clip", ClipAttrs(Activation.RELU_N1_TO_1)),
    "SOFTMAX": Importer(_softmax, (1,), SoftmaxOptions),
}
