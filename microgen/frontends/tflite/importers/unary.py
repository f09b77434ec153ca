"""Operators that compute each element of one tensor, and SOFTMAX."""

from __future__ import annotations

import math

import numpy as np
from tflite.GeluOptions import GeluOptions
from tflite.LeakyReluOptions import LeakyReluOptions
from tflite.SignOptions import SignOptions
from tflite.SoftmaxOptions import SoftmaxOptions

from microgen.frontends.tflite.importers.arguments import Importer, plain
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.elementwise.addition import SubtractAttrs
from microgen.graph.ops.elementwise.product import PReluAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs, SoftmaxAttrs
from microgen.graph.ops.tables.tables import LookupAttrs
from microgen.graph.ops.unary import gelu
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
from microgen.graph.ops.unary.real_function import RealFunctionAttrs
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


def _gelu(layer: FileLayer) -> BuiltTensor:
    data, is_approximate = layer.data(0), layer.flag("Approximate")
    if data.dtype is DType.FLOAT32:
        attrs = RealFunctionAttrs("gelu_tanh" if is_approximate else "gelu")
        return layer.emit("real_function", attrs, (data,), layer.output())
    layer.expect(data, DType.INT8, DType.INT16)
    layer.expect(layer.output(), data.dtype)
    try:
        table = gelu.table(data.type, layer.output().type, is_approximate=is_approximate)
    except ValueError as error:
        raise layer.invalid(f"has the scale {data.type.scale:g}, at which {error}") from None
    entries = layer.constant(table, f"{layer.name}/table")
    return layer.emit("lookup", LookupAttrs("gelu"), (data, entries), layer.output())


def _sign(layer: FileLayer) -> BuiltTensor:
    """For integers, whether the value is positive minus whether it is negative."""
    data, output = layer.data(0), layer.output()
    layer.expect(data, DType.FLOAT32, DType.INT32)
    if data.dtype is DType.FLOAT32:
        return layer.emit("real_function", RealFunctionAttrs("sign"), (data,), output)
    zero = layer.constant(np.zeros((), data.dtype.numpy), "zero")
    sides = []
    for op in ("greater", "less"):
        is_there = layer.emit(op, ComparisonAttrs(), (data, zero), dtype=DType.BOOL)
        sides.append(layer.emit("cast", CastAttrs(), (is_there,), dtype=data.dtype))
    return layer.emit("subtract", SubtractAttrs(Activation.NONE), sides, output)


def _logistic(layer: FileLayer) -> BuiltTensor:
    data, output = layer.data(0), layer.output()
    # PyTorch's PT2E quantization writes other scales, which LiteRT gives to XNNPACK.
    is_other = data.dtype is DType.INT8 and output.type.scale != 1 / 256
    if is_other and layer.numerics.name == "tflm":
        raise layer.unsupported(
            f"has the output scale {output.type.scale:g}, which TensorFlow Lite Micro refuses",
            supported="an output scale of 1/256, or --numerics litert",
        )
    return layer.emit("sigmoid", SigmoidAttrs(), (data,), output)


IMPORTERS = {
    "ABS": plain("abs", AbsAttrs()),
    "CEIL": plain("ceil", CeilAttrs()),
    "COS": plain("cos", CosAttrs()),
    "ELU": plain("nn.elu", EluAttrs()),
    "EXP": plain("exp", ExpAttrs()),
    "FLOOR": plain("floor", FloorAttrs()),
    "GELU": Importer(_gelu, (1,), optional=GeluOptions),
    "HARD_SWISH": plain("nn.hard_swish", HardSwishAttrs()),
    "LEAKY_RELU": Importer(_leaky_relu, (1,), LeakyReluOptions),
    "LOG": plain("log", LogAttrs()),
    "LOGISTIC": Importer(_logistic, (1,)),
    "LOG_SOFTMAX": plain("nn.log_softmax", LogSoftmaxAttrs()),
    "NEG": plain("negative", NegativeAttrs()),
    "PRELU": plain("nn.prelu", PReluAttrs(), 2),
    "ROUND": plain("round", RoundAttrs()),
    "RSQRT": plain("rsqrt", RsqrtAttrs()),
    "SIGN": Importer(_sign, (1,), optional=SignOptions),
    "SIN": plain("sin", SinAttrs()),
    "SQRT": plain("sqrt", SqrtAttrs()),
    "TANH": plain("tanh", TanhAttrs()),
    "RELU": plain("clip", ClipAttrs(Activation.RELU)),
    "RELU_0_TO_1": plain("clip", ClipAttrs(Activation.RELU_0_TO_1)),
    "RELU6": Importer(_relu6, (1,)),
    "RELU_N1_TO_1": plain("clip", ClipAttrs(Activation.RELU_N1_TO_1)),
    "SOFTMAX": Importer(_softmax, (1,), SoftmaxOptions),
}
