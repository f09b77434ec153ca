"""LOCAL_RESPONSE_NORMALIZATION and FAKE_QUANT."""

from __future__ import annotations

import math

import numpy as np
from tflite.FakeQuantOptions import FakeQuantOptions
from tflite.LocalResponseNormalizationOptions import LocalResponseNormalizationOptions

from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs, PowerAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.unary.functions import FloorAttrs

_OPEN = Activation.UNLIMITED


def _with(layer: FileLayer, op: str, attrs: Attrs, data: BuiltTensor, by: float) -> BuiltTensor:
    """The result of an op of float32 data and a number."""
    number = layer.constant(np.array(by, np.float32), op)
    return layer.emit(op, attrs, (data, number))


def _local_response(layer: FileLayer) -> BuiltTensor:
    """Data / (bias + alpha * sum of squares of the channels around it) ** beta."""
    # Source: TFLite reference/reference_ops.h, LocalResponseNormalization, which leaves out the
    # last of the channels that its definition has.
    data, output, radius = layer.data(0), layer.output(), layer.option("Radius")
    layer.expect(data, DType.FLOAT32)
    layer.expect_rank(data, 4)
    numbers = [layer.real(name) for name in ("Bias", "Alpha", "Beta")]
    if not 0 <= radius < 2**15 or not all(map(math.isfinite, numbers)):
        raise layer.invalid(f"has the radius {radius} and the numbers {numbers}")
    bias, alpha, beta = numbers
    divided = _with(layer, "power", PowerAttrs(), _base(layer, data, radius, bias, alpha), -beta)
    return layer.emit("multiply", MultiplyAttrs(_OPEN), (data, divided), output)


def _base(
    layer: FileLayer, data: BuiltTensor, radius: int, bias: float, alpha: float
) -> BuiltTensor:
    """Bias + alpha * sum of squares of the channels from c - radius to c + radius - 1."""
    channels = data.shape[-1]
    # Channels that do not exist are 0.
    size = 2 * min(radius, channels)
    if not size:
        return layer.constant(np.array(bias, np.float32), "bias")
    squares = layer.emit("multiply", MultiplyAttrs(_OPEN), (data, data))
    image = layer.reshaped(squares, (1, data.type.size // channels, channels, 1))
    pads = PadAttrs(((0, 0), (0, 0), (size // 2, size // 2 - 1), (0, 0)), 0.0)
    wide = layer.emit("nn.pad", pads, (image,))
    window = AvgPool2DAttrs((1, size), (1, 1), "VALID", Activation.NONE)
    means = layer.reshaped(layer.emit("nn.avg_pool2d", window, (wide,)), data.shape)
    scaled = _with(layer, "multiply", MultiplyAttrs(_OPEN), means, alpha * size)
    return _with(layer, "add", AddAttrs(_OPEN), scaled, bias)


def _fake_quant(layer: FileLayer) -> BuiltTensor:
    """Values rounded to the steps of a quantization, as floats."""
    # Source: TFLite reference/reference_ops.h, FakeQuant, step by step in float32.
    data, output = layer.data(0), layer.output()
    layer.expect(data, DType.FLOAT32)
    if layer.flag("NarrowRange"):
        raise layer.unsupported(
            "has a narrow range, which LiteRT refuses for computed data", supported="a full range"
        )
    low, high, scale = _nudged(layer)
    if scale == 0:
        return layer.define(np.zeros(data.shape, np.float32))
    upper = _with(layer, "maximum", MaximumAttrs(), data, low)
    clamped = _with(layer, "minimum", MinimumAttrs(), upper, high)
    shifted = _with(layer, "subtract", SubtractAttrs(_OPEN), clamped, low)
    inverse = float(np.float32(1) / np.float32(scale))
    steps = _with(layer, "multiply", MultiplyAttrs(_OPEN), shifted, inverse)
    # C's round: the integer below, and 1 more from one half on. Nothing is negative here.
    below = layer.emit("floor", FloorAttrs(), (steps,))
    rest = layer.emit("subtract", SubtractAttrs(_OPEN), (steps, below))
    half = layer.constant(np.array(0.5, np.float32), "half")
    is_up = layer.emit("greater_equal", ComparisonAttrs(), (rest, half), dtype=DType.BOOL)
    up = layer.emit("cast", CastAttrs(), (is_up,), dtype=DType.FLOAT32)
    rounded = layer.emit("add", AddAttrs(_OPEN), (below, up))
    scaled = _with(layer, "multiply", MultiplyAttrs(_OPEN), rounded, scale)
    zero = layer.constant(np.array(low, np.float32), "low")
    return layer.emit("add", AddAttrs(_OPEN), (scaled, zero), output)


def _nudged(layer: FileLayer) -> tuple[float, float, float]:
    """The least and the greatest value, moved so that 0 is a step, and the size of a step.

    Source: TFLite quantization_util.cc, NudgeQuantizationRange.
    """
    low, high = (np.float32(layer.real(name)) for name in ("Min", "Max"))
    bits = layer.option("NumBits")
    if not 2 <= bits <= 16 or not -np.inf < low <= 0 <= high < np.inf:
        raise layer.invalid(f"has {bits} bits from {low} to {high}; 2 to 16 around 0 are expected")
    most = np.float32(2**bits - 1)
    scale = (high - low) / most
    if scale == 0:
        return 0.0, 0.0, 0.0
    zero = np.clip(-low / scale, 0, most)
    nudged = np.float32(np.floor(float(zero) + 0.5))
    return float(-nudged * scale), float((most - nudged) * scale), float(scale)


IMPORTERS = {
    "FAKE_QUANT": Importer(_fake_quant, (1,), FakeQuantOptions),
    "LOCAL_RESPONSE_NORMALIZATION": Importer(
        _local_response, (1,), LocalResponseNormalizationOptions
    ),
}
