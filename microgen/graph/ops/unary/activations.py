"""Activations that are separate ops and need few operations for each value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from microgen.graph.arithmetic.int8 import (
    clamp,
    clip_multiplier,
    multiply_by_quantized_multiplier,
    offset_and_clamp,
    quantize_multiplier,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import OpDefinition, Operands, like_input
from microgen.graph.ops.constraints import ALL_FAMILIES, activations_constraint, too_large_ratio
from microgen.graph.ops.unary import unary


@dataclass(frozen=True, slots=True)
class ClipAttrs(Attrs):
    """clip: a ReLU by itself; the output may have a quantization of its own.

    Input: int8, int16 or float32 data of any rank; for int16 TFLite has only RELU and RELU6.
    """

    activation: Activation


def _clip_check(attrs: ClipAttrs, inputs: Types, outputs: Types) -> str | None:
    """An activation to apply, and a ratio of scales that the fixed point can hold."""
    if not attrs.activation.clamps:
        return "a clip needs an activation"
    sentence = activations_constraint(inputs[0], outputs[0], _clip_accepted(attrs))
    if sentence or inputs[0].quant is None:
        return sentence
    return too_large_ratio(clip_multiplier, inputs[0], outputs[0])


def _clip_accepted(attrs: ClipAttrs) -> tuple[DType, ...]:
    if attrs.activation in (Activation.RELU_N1_TO_1, Activation.RELU_0_TO_1):
        return (DType.INT8, DType.FLOAT32)
    return ALL_FAMILIES


def _clip_reference(attrs: ClipAttrs, operands: Operands) -> Arrays:
    # Source of the integer form: TFLite reference_ops.h, ReluX with ReluParams. Floats are clamped
    # as by a fused activation, and infinity becomes the largest finite value.
    data_type, output = operands.input_types[0], operands.output_types[0]
    if floats.is_float(output):
        return floats.activated(operands.inputs[0], attrs.activation)
    centred = operands.inputs[0].astype(np.int32) - data_type.zero_point
    multiplier, shift = clip_multiplier(data_type, output)
    if multiplier:
        centred = multiply_by_quantized_multiplier(centred, multiplier, shift, Rounding.DOUBLE)
    return (offset_and_clamp(centred, output, attrs.activation),)


CLIP = OpDefinition(
    "clip",
    ClipAttrs,
    like_input("clip"),
    _clip_check,
    _clip_reference,
    bound=bounds.lipschitz(lambda _attrs: 1.0, roundings=0),
)


ELU_ULPS = 2  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


class EluAttrs(Attrs):
    """nn.elu: x where x is positive, exp(x) - 1 elsewhere.

    Input: int8 or float32 data of any rank.
    """


def _elu_real(_attrs: EluAttrs, x: Array) -> Array:
    return np.where(x < 0, unary.rounded(np.expm1, np.minimum(x, 0)), x)


def _elu_int8(attrs: EluAttrs, operands: Operands) -> Arrays:
    # Source: TFLite activations.cc, EluPrepare (a table computed in float32).
    return unary.quantized(_elu_real(attrs, unary.dequantized(operands)), operands.output_types[0])


ELU = unary.define("nn.elu", EluAttrs, unary.ValueFunction(_elu_real, _elu_int8, ulps=ELU_ULPS))


class HardSwishAttrs(Attrs):
    """nn.hard_swish: x times relu6(x + 3) / 6.

    Input: int8 or float32 data of any rank.
    """


def _hard_swish_constraint(
    _attrs: HardSwishAttrs, data: ArrayType, output: ArrayType
) -> str | None:
    """The reason to refuse ratios of scales that the fixed point cannot hold."""
    try:
        (_, exponent), _ = _hard_swish_multipliers(data, output)
    except ValueError as error:
        return f"the scales {data.scale:g} and {output.scale:g} are out of range: {error}"
    if exponent > 0:
        return (
            f"the input's scale {data.scale:g} is 128 times the output's {output.scale:g} or more; "
            "it must be less"
        )
    return None


def _hard_swish_multipliers(
    data: ArrayType, output: ArrayType
) -> tuple[tuple[int, int], tuple[int, int]]:
    """(Q15 multiplier, exponent) to the output's scale, and to a scale in which 3 is 2**15.

    Source: TFLite activations.cc, HardSwishPrepare, whose arithmetic is float32.
    """
    fine = np.float32(1 / 128) * np.float32(data.scale)
    relu_scale = np.float32(3) / np.float32(32768)
    to_output = quantize_multiplier(float(fine / np.float32(output.scale)))
    to_relu = quantize_multiplier(float(fine / relu_scale))
    return _to_q15(*to_output), _to_q15(*to_relu)


def _to_q15(multiplier: int, exponent: int) -> tuple[int, int]:
    return min((multiplier + (1 << 15)) >> 16, 2**15 - 1), exponent


def _hard_swish_real(_attrs: HardSwishAttrs, x: Array) -> Array:
    # Source: TFLite reference/hard_swish.h, step by step in float32.
    with np.errstate(over="ignore", invalid="ignore"):
        return x * np.clip(x + np.float32(3), 0, 6) / np.float32(6)


def _hard_swish_int8(_attrs: HardSwishAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/hard_swish.h, in int16 fixed point.
    output = operands.output_types[0]
    (multiplier, exponent), to_relu = _hard_swish_multipliers(operands.input_types[0], output)
    # 7 bits more than int8, so that all of int16 is used.
    fine = unary.centred(operands) << 7
    gate = (_relu_like(fine, *to_relu) + (1 << 15)) >> 1  # Q15, in [0, 1)
    product = gate * _rounding_high_mul(fine, multiplier)
    # The int16 product of TFLite is a doubling high multiply without rounding, which truncates.
    truncated = np.sign(product) * (np.abs(product) >> 15)
    stored = (_divide(truncated, -exponent) + output.zero_point).astype(np.int16)
    return (clamp(stored, output, Activation.NONE),)


def _relu_like(fine: Array, multiplier: int, exponent: int) -> Array:
    """The input as Q15 of thirds, saturated to [-1, 1)."""
    if exponent <= 0:
        return _divide(_rounding_high_mul(fine, multiplier), -exponent)
    # The last doubling comes after the multiplication, so a value that saturates earlier is also
    # saturated in the end.
    shifted = _saturated(fine << (exponent - 1))
    return _saturated(_rounding_high_mul(shifted, multiplier) << 1)


def _saturated(x: Array) -> Array:
    return np.clip(x, -(2**15), 2**15 - 1)


def _rounding_high_mul(a: Array, b: int) -> Array:
    """SaturatingRoundingDoublingHighMul of gemmlowp on int16, whose division truncates."""
    product = a * b
    # A truncating division of product + 1 - 2**14, as gemmlowp's nudge for negative products is.
    negative = -((-product + (1 << 14) - 1) >> 15)
    return _saturated(np.where(product >= 0, (product + (1 << 14)) >> 15, negative))


def _divide(x: Array, exponent: int) -> Array:
    # gemmlowp's mask of int16 wraps if the exponent exceeds 15.
    mask = np.int64(np.array((1 << exponent) - 1).astype(np.int16))
    return np.asarray((x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0)))


HARD_SWISH = unary.define(
    "nn.hard_swish",
    HardSwishAttrs,
    unary.ValueFunction(
        _hard_swish_real,
        _hard_swish_int8,
        constraint=_hard_swish_constraint,
        steepest=lambda _attrs: 1.5,
    ),
)


@dataclass(frozen=True, slots=True)
class LeakyReluAttrs(Attrs):
    """nn.leaky_relu: x where x is positive, alpha times x elsewhere.

    Input: int8, int16 or float32 data of any rank. ``alpha`` is a float32, of either sign.
    """

    alpha: float


def leaky_relu_multipliers(
    attrs: LeakyReluAttrs, data: ArrayType, output: ArrayType
) -> tuple[tuple[int, int], tuple[int, int]]:
    """(multiplier, shift) for positive values, then for all other values.

    Source: TFLite activations.cc, LeakyReluPrepare, which multiplies and divides in float32.
    """
    scale_in, scale_out = np.float32(data.scale), np.float32(output.scale)
    with np.errstate(over="ignore"):
        slope = float(scale_in * np.float32(attrs.alpha) / scale_out)
        multiplier, shift = quantize_multiplier(abs(slope))
        identity = quantize_multiplier(float(scale_in / scale_out))
    return identity, (-multiplier if slope < 0 else multiplier, shift)


def _leaky_relu_real(attrs: LeakyReluAttrs, x: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(x > 0, x, x * np.float32(attrs.alpha))


def _leaky_relu_quantized(attrs: LeakyReluAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/leaky_relu.h, QuantizeLeakyRelu.
    x, output = unary.centred(operands), operands.output_types[0]
    identity, slope = leaky_relu_multipliers(attrs, operands.input_types[0], output)
    (positive,) = unary.requantized(np.maximum(x, 0), *identity, output)
    (negative,) = unary.requantized(np.minimum(x, 0), *slope, output)
    return (np.where(x >= 0, positive, negative),)


LEAKY_RELU = unary.define(
    "nn.leaky_relu",
    LeakyReluAttrs,
    unary.ValueFunction(
        _leaky_relu_real,
        _leaky_relu_quantized,
        int16=_leaky_relu_quantized,
        constraint=partial(too_large_ratio, leaky_relu_multipliers),
        steepest=lambda attrs: max(1.0, abs(attrs.alpha)),
    ),
)


OPS = (CLIP, ELU, HARD_SWISH, LEAKY_RELU)
