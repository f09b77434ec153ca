"""Functions of one value that need few lines. Each is a row of ``OPS``."""

from __future__ import annotations

from functools import partial

import numpy as np

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands
from microgen.graph.ops.constraints import too_large_ratio
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import unary

# Of float kernels, plus half for the reference's rounding:
WAVE_ULPS = 1  # crt/include/microgen/arithmetic/float_angles.h
EXP_ULPS = LOG_ULPS = 1  # crt/include/microgen/arithmetic/float_math.h


class CeilAttrs(Attrs):
    """Input: float32 data of any rank."""


class CosAttrs(Attrs):
    """Input: float32 data of any rank."""


class FloorAttrs(Attrs):
    """Input: float32 data of any rank."""


class RoundAttrs(Attrs):
    """Input: float32 data of any rank."""


class SinAttrs(Attrs):
    """Input: float32 data of any rank."""


class AbsAttrs(Attrs):
    """abs: the magnitude.

    Input: int8, int16 or float32 data of any rank.
    """


def abs_multiplier(data: ArrayType, output: ArrayType) -> tuple[int, int]:
    """(multiplier, shift); with equal scales the multiplier is 1, which changes no value."""
    return quantize_multiplier(float(np.float32(data.scale) / np.float32(output.scale)))


def _abs_quantized(_attrs: AbsAttrs, operands: Operands) -> Arrays:
    # Source: TFLite elementwise.cc, AbsEvalQuantized.
    data, output = operands.input_types[0], operands.output_types[0]
    return unary.requantized(np.abs(unary.centred(operands)), *abs_multiplier(data, output), output)


class ExpAttrs(Attrs):
    """exp: the exponential function.

    Input: int8, int16 or float32 data of any rank.
    """


def _exp_int8(_attrs: ExpAttrs, operands: Operands) -> Arrays:
    # Source: TFLite exp.cc, Prepare (a table computed in float32).
    real = unary.rounded(np.exp, unary.dequantized(operands))
    return unary.quantized(real, operands.output_types[0])


def _exp_int16_table(_attrs: ExpAttrs, data: ArrayType, output: ArrayType) -> Array:
    # Source: TFLite exp.cc, Prepare.
    return tables.of_function(partial(unary.rounded, np.exp), data, output)


class LogAttrs(Attrs):
    """log: the natural logarithm.

    Input: int8, int16 or float32 data of any rank. For integers, values that are not positive give
    the least output. For floats, -0 and 0 give minus infinity, and negative values NaN.
    """


def _log_int8(_attrs: LogAttrs, operands: Operands) -> Arrays:
    # Source: TFLite elementwise.cc, LogLUTPrepare (a table computed in float32).
    x, output = unary.dequantized(operands), operands.output_types[0]
    positive = x > 0
    # The logarithm of 1 stands in for others, whose results are replaced.
    (stored,) = unary.quantized(unary.rounded(np.log, np.where(positive, x, 1)), output)
    return (np.where(positive, stored, np.int8(-128)),)


def _log_int16_table(_attrs: LogAttrs, data: ArrayType, output: ArrayType) -> Array:
    # Source: TFLite elementwise.cc, LogLUTPrepare.
    least = np.float32(-(2**15)) * np.float32(output.scale)

    def function(x: Array) -> Array:
        return np.where(x > 0, unary.rounded(np.log, np.where(x > 0, x, 1)), least)

    return tables.of_function(function, data, output)


class NegativeAttrs(Attrs):
    """negative: the stored values negated.

    Input: int8, int16 or float32 data of any rank.

    For integers, real values are negated only if both zero points are 0 and the scales are equal,
    because LiteRT ignores quantization here.
    """


def _negative_quantized(_attrs: NegativeAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/neg.h, Negate, which does not change the least value.
    return (-operands.inputs[0],)


def _rounding(name: str, attrs: type[Attrs], function: np.ufunc, about: str) -> OpDefinition:
    """A function of floats that are rounded to integers."""
    # Source: TFLite ceil.cc, floor.cc, Eval, and reference/round.h, RoundToNearest.
    bound = bounds.function(lambda _attrs, x: np.asarray(function(x)), 0)
    return unary.define_of_floats(name, attrs, lambda x: np.asarray(function(x)), bound, about)


def _wave(name: str, attrs: type[Attrs], function: np.ufunc, about: str) -> OpDefinition:
    """A function of floats that are angles."""
    # Source: TFLite elementwise.cc, CosEval and SinEval.
    bound = bounds.wave(WAVE_ULPS)
    return unary.define_of_floats(name, attrs, partial(unary.rounded, function), bound, about)


_ABS = unary.ValueFunction(
    lambda _attrs, x: np.abs(x),
    _abs_quantized,
    int16=_abs_quantized,
    constraint=lambda _attrs, *types: too_large_ratio(abs_multiplier, *types),
    steepest=lambda _attrs: 1.0,
)
_EXP = unary.ValueFunction(
    unary.in_double(np.exp), _exp_int8, int16_table=_exp_int16_table, ulps=EXP_ULPS
)
_LOG = unary.ValueFunction(
    unary.in_double(np.log), _log_int8, int16_table=_log_int16_table, ulps=LOG_ULPS
)
_NEGATIVE = unary.ValueFunction(
    lambda _attrs, x: -x, _negative_quantized, int16=_negative_quantized
)

OPS = (
    unary.define("abs", AbsAttrs, _ABS),
    unary.define("exp", ExpAttrs, _EXP),
    unary.define("log", LogAttrs, _LOG),
    unary.define("negative", NegativeAttrs, _NEGATIVE),
    _rounding("ceil", CeilAttrs, np.ceil, "the least integer that is not below each value"),
    _rounding("floor", FloorAttrs, np.floor, "the greatest integer that is not above each value"),
    _rounding(
        "round", RoundAttrs, np.rint, "the nearest integer to each value, the even one of two"
    ),
    _wave("cos", CosAttrs, np.cos, "the cosine of each value, which is an angle in radians"),
    _wave("sin", SinAttrs, np.sin, "the sine of each value, which is an angle in radians"),
)
