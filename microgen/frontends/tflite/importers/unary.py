"""Activations and elementwise functions of one tensor that are not in `activations`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tflite.BuiltinOptions import BuiltinOptions
from tflite.LeakyReluOptions import LeakyReluOptions

from microgen.frontends.tensors import Tensor
from microgen.frontends.tflite.layers import Importer, Layer
from microgen.graph.ir.graph import Attrs
from microgen.graph.ops.elementwise.prelu import PReluAttrs
from microgen.graph.ops.reductions.log_softmax import LogSoftmaxAttrs
from microgen.graph.ops.unary.abs import AbsAttrs
from microgen.graph.ops.unary.ceil import CeilAttrs
from microgen.graph.ops.unary.cos import CosAttrs
from microgen.graph.ops.unary.elu import EluAttrs
from microgen.graph.ops.unary.exp import ExpAttrs
from microgen.graph.ops.unary.floor import FloorAttrs
from microgen.graph.ops.unary.hard_swish import HardSwishAttrs
from microgen.graph.ops.unary.leaky_relu import LeakyReluAttrs
from microgen.graph.ops.unary.log import LogAttrs
from microgen.graph.ops.unary.negative import NegativeAttrs
from microgen.graph.ops.unary.round import RoundAttrs
from microgen.graph.ops.unary.rsqrt import RsqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs
from microgen.graph.ops.unary.sin import SinAttrs
from microgen.graph.ops.unary.sqrt import SqrtAttrs
from microgen.graph.ops.unary.tanh import TanhAttrs


def _unary(op: str, attrs: Attrs) -> Importer:
    def importer(layer: Layer) -> Tensor:
        layer.expect_inputs(1)
        return layer.emit(op, attrs, (layer.data(0),), layer.output())

    return importer


def _leaky_relu(layer: Layer) -> Tensor:
    layer.expect_inputs(1)
    options = layer.options(LeakyReluOptions, BuiltinOptions.LeakyReluOptions)
    alpha = float(options.number("Alpha"))
    if not math.isfinite(alpha):
        raise layer.invalid(f"has alpha {alpha:g}; a finite value is expected")
    return layer.emit("nn.leaky_relu", LeakyReluAttrs(alpha), (layer.data(0),), layer.output())


def _prelu(layer: Layer) -> Tensor:
    layer.expect_inputs(2)
    return layer.emit("nn.prelu", PReluAttrs(), (layer.data(0), layer.data(1)), layer.output())


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
}
