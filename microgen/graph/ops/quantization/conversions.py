"""Numbers of another dtype, with or without a scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, like_input
from microgen.graph.ops.constraints import (
    EVERY_DTYPE,
    activation_constraint,
    dtype_constraint,
    quantized_constraint,
)
from microgen.graph.ops.cost import ReferenceCost, moved, rearranged

ACCEPTED = EVERY_DTYPE


class CastAttrs(Attrs):
    """cast: numbers of one dtype converted to another.

    Input: data of any rank. Stored values are converted; a quantization on either side is ignored.
    """


def _cast_check(_attrs: CastAttrs, inputs: Types, outputs: Types) -> str | None:
    """bool, integers and float32, in all combinations."""
    return dtype_constraint("input", inputs[0], ACCEPTED) or dtype_constraint(
        "output", outputs[0], ACCEPTED
    )


def _cast_reference(_attrs: CastAttrs, operands: Operands) -> Arrays:
    """Integers wrap, floats are truncated and saturated, NaN becomes the greatest integer.

    Source: TFLite cast.cc, copyCast, which leaves floats out of range undefined for some dtypes.
    Measurement shows that ai-edge-litert 2.3.0 saturates them.
    """
    data, output = operands.inputs[0], operands.output_types[0].dtype
    if data.dtype.kind == "f" and output.numpy.kind in "iu":
        return (_saturated(data, output),)
    return (data.astype(output.numpy),)


def _saturated(data: Array, output: DType) -> Array:
    limits = np.iinfo(output.numpy)
    beyond, least = np.float32(float(limits.max) + 1), np.float32(limits.min)  # exact
    inside = (data < beyond) & (data >= least)
    whole = np.where(inside, data, 0).astype(output.numpy)
    ends = np.where(data < least, limits.min, limits.max).astype(output.numpy)
    return np.where(inside, whole, ends)


def _cast_cost(attrs: CastAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    is_saturated = inputs[0].dtype is DType.FLOAT32 and outputs[0].dtype.numpy.kind in "iu"
    return (moved if is_saturated else rearranged)(attrs, inputs, outputs)


CAST = OpDefinition(
    "cast", CastAttrs, like_input("cast"), _cast_check, _cast_reference, cost=_cast_cost
)


DEQUANTIZE_FROM, DEQUANTIZE_TO = (
    (DType.INT8, DType.UINT8, DType.INT16, DType.INT32),
    (DType.FLOAT32,),
)


class DequantizeAttrs(Attrs):
    """qnn.dequantize: int8, uint8, int16 or int32 values converted to the floats that they mean.

    Input: int8, uint8, int16 or int32 data of any rank, with a scale.
    """


def _dequantize_check(_attrs: DequantizeAttrs, inputs: Types, outputs: Types) -> str | None:
    """int8, uint8, int16 or int32 to float32."""
    return quantized_constraint("input", inputs[0], DEQUANTIZE_FROM) or activation_constraint(
        "output", outputs[0], DEQUANTIZE_TO
    )


def dequantize_reference(_attrs: DequantizeAttrs, operands: Operands) -> Arrays:
    """One float32 product: the exact product rounded once, except for int32.

    Source: TFLite reference/integer_ops/dequantize.h, Dequantize, which multiplies in double and
    then rounds. The result is the same, because the product of 24 and 16 bits is exact. int32
    values become float32 first: TVM v0.14, src/relay/qnn/op/dequantize.cc, DequantizeLower.
    """
    data = operands.input_types[0]
    centred = operands.inputs[0].astype(np.int32) - data.zero_point
    with np.errstate(over="ignore"):
        return (centred.astype(np.float32) * np.float32(data.scale),)


DEQUANTIZE = OpDefinition(
    "qnn.dequantize",
    DequantizeAttrs,
    like_input("qnn.dequantize"),
    _dequantize_check,
    dequantize_reference,
    bound=bounds.monotonic(dequantize_reference),
    cost=moved,
)


QUANTIZE_FROM, QUANTIZE_TO = (DType.FLOAT32,), (DType.INT8, DType.UINT8, DType.INT16, DType.INT32)


@dataclass(frozen=True, slots=True)
class QuantizeAttrs(Attrs):
    """qnn.quantize: float32 values converted to int8, uint8, int16 or int32 ones.

    Input: float32 data of any rank. Halves are rounded away from zero, or to even.
    """

    ties_even: bool = False


def _quantize_check(_attrs: QuantizeAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 to int8, uint8, int16 or int32."""
    return activation_constraint("input", inputs[0], QUANTIZE_FROM) or quantized_constraint(
        "output", outputs[0], QUANTIZE_TO
    )


def quantize_reference(attrs: QuantizeAttrs, operands: Operands) -> Arrays:
    """Division in float32, rounded to nearest, saturated; NaN becomes the least value.

    Source: TFLite reference/quantize.h, AffineQuantize, which is undefined for NaN and for
    quotients beyond int32; TVM v0.14, src/relay/qnn/op/quantize.cc, QuantizeLower, with C's round;
    with ``ties_even`` ONNX's QuantizeLinear.
    """
    output = operands.output_types[0]
    limits = np.iinfo(output.dtype.numpy)
    with np.errstate(over="ignore"):
        scaled = (operands.inputs[0] / np.float32(output.scale)).astype(np.float64)
    # In double the sum with 0.5 is exact, so a number just below a half is not rounded up.
    away = np.trunc(scaled + np.copysign(0.5, scaled))
    rounded = (np.rint(scaled) if attrs.ties_even else away) + output.zero_point
    stored = np.clip(np.nan_to_num(rounded, nan=limits.min), limits.min, limits.max)
    return (stored.astype(output.dtype.numpy),)


QUANTIZE = OpDefinition(
    "qnn.quantize",
    QuantizeAttrs,
    like_input("qnn.quantize"),
    _quantize_check,
    quantize_reference,
    bound=bounds.monotonic(quantize_reference),
    cost=moved,
)


OPS = (CAST, DEQUANTIZE, QUANTIZE)
