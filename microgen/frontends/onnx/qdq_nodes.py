"""From floats to stored integers and back, as importers add them to the graph."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.frontends.onnx import scales
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.scales import Scales
from microgen.frontends.quantization import reinterpreted
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor, Stored
from microgen.graph.ir.graph import Array, DType, frozen
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs, DequantizeAttrs, QuantizeAttrs
from microgen.graph.ops.unary.functions import RoundAttrs
from microgen.graph.unsigned import HALF, flipped, moved

_HALF_INT4 = 8


def dequantized(
    node: OnnxNode, data: BuiltTensor, found: Scales, hint: str = "float"
) -> BuiltTensor:
    """The numbers that stored integers mean, float32: (stored - zero point) * scale.

    Source: ONNX's operator DequantizeLinear.
    """
    if data.value is not None:
        return _constant(node, data, found, hint)
    if not found.block and scales.fits(found.quant, data.dtype):
        typed = reinterpreted(node, data, found.quant)
        return node.emit(
            "qnn.dequantize",
            DequantizeAttrs(),
            (typed,),
            dtype=DType.FLOAT32,
            quant=None,
            hint=hint,
        )
    scale, zero = found.over(data.shape)
    return scaled(node, data, node.constant(scale, "scale"), zero)


def scaled(
    node: OnnxNode, data: BuiltTensor, scale: BuiltTensor, zero: Array | BuiltTensor
) -> BuiltTensor:
    """The same by arithmetic of floats, for scales or zero points that the op does not have."""
    plain = reinterpreted(node, data, None)
    floats = _as_float(node, plain)
    if not isinstance(zero, BuiltTensor):
        zero = node.constant(np.asarray(zero).astype(np.float32), "zero")
    lhs = node.emit("subtract", SubtractAttrs(Activation.NONE), (floats, _as_float(node, zero)))
    return node.emit("multiply", MultiplyAttrs(Activation.NONE), (lhs, scale))


def _as_float(node: OnnxNode, tensor: BuiltTensor) -> BuiltTensor:
    if tensor.dtype is DType.FLOAT32:
        return tensor
    return node.emit("cast", CastAttrs(), (tensor,), dtype=DType.FLOAT32, quant=None)


def _constant(node: OnnxNode, data: BuiltTensor, found: Scales, hint: str) -> BuiltTensor:
    """A constant as floats, whose stored form is recorded."""
    assert data.value is not None
    scale, zero = found.over(data.shape)
    with np.errstate(over="ignore"):
        floats = (data.value.astype(np.int64) - zero).astype(np.float32) * scale
    made = node.constant(floats.astype(np.float32), hint)
    if found.block or data.dtype is DType.UINT16:
        return made
    values, quant = data.value, found.quant
    if data.is_int4 and data.dtype is DType.UINT8:
        values, quant = (values - np.uint8(_HALF_INT4)).view(np.int8), moved(quant, -_HALF_INT4)
    elif data.dtype is DType.UINT8:
        values, quant = flipped(values), moved(quant, -HALF)
    return dataclasses.replace(made, stored=Stored(frozen(values), quant, data.is_int4))


def quantized(
    node: OnnxNode, data: BuiltTensor, found: Scales, dtype: DType, hint: str = "stored"
) -> BuiltTensor:
    """The stored integers of numbers: round(x / scale) + zero point, saturated; halves are rounded
    to even.

    Source: ONNX's operator QuantizeLinear.
    """
    floats = _as_float(node, data)
    if found.block == 0 and scales.fits(found.quant, dtype):
        attrs = QuantizeAttrs(ties_even=True)
        return node.emit(
            "qnn.quantize", attrs, (floats,), dtype=dtype, quant=found.quant, hint=hint
        )
    scale, zero = found.over(data.shape)
    zeros = node.constant(zero.astype(np.float32), "zero")
    return divided(node, floats, node.constant(scale, "scale"), zeros, dtype)


def divided(
    node: OnnxNode, data: BuiltTensor, scale: BuiltTensor, zero: BuiltTensor, dtype: DType
) -> BuiltTensor:
    """The same by arithmetic of floats, for scales or zero points that the op does not have."""
    limits = np.iinfo(dtype.numpy)
    quotient = node.emit("divide", DivideAttrs(Activation.NONE, False), (data, scale))
    whole = node.emit("round", RoundAttrs(), (quotient,))
    moved = node.emit("add", AddAttrs(Activation.NONE), (whole, _as_float(node, zero)))
    low, high = (node.constant(np.array(v, np.float32), "limit") for v in (limits.min, limits.max))
    least = node.emit("maximum", MaximumAttrs(), (moved, low))
    inside = node.emit("minimum", MinimumAttrs(), (least, high))
    return node.emit("cast", CastAttrs(), (inside,), dtype=dtype, quant=None)
