"""Square roots and their reciprocals."""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.int8 import (
    clamp,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.fixed_point import inverse_square_root
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import unary

_LEAST_SCALE, _MOST_SCALE = 2.0**-126, 2.0**112
_ENOUGH = 2**17  # more than the output's dtype and zero point can use


class SqrtAttrs(Attrs):
    """sqrt: the square root.

    Input: int8, int16 or float32 data of any rank. Negative integers, at which LiteRT stops with an
    error, are treated as 0. Negative floats give NaN.
    """


def _sqrt_constraint(_attrs: SqrtAttrs, data: ArrayType, _output: ArrayType) -> str | None:
    """For int16: the reason to refuse a scale whose real values are not normal float32 numbers."""
    if data.dtype is not DType.INT16 or _LEAST_SCALE <= data.scale <= _MOST_SCALE:
        return None
    return (
        f"the input's scale is {data.scale:g}; it must be from {_LEAST_SCALE:g} to {_MOST_SCALE:g}"
    )


def _sqrt_quantized(_attrs: SqrtAttrs, operands: Operands) -> Arrays:
    # Source: TFLite elementwise.cc, SqrtEvalQuantized: float32, truncated.
    output = operands.output_types[0]
    root = np.sqrt(np.maximum(unary.dequantized(operands), 0))
    with np.errstate(over="ignore"):
        # Larger quotients would leave int64, and all of them saturate.
        steps = np.minimum(root / np.float32(output.scale), _ENOUGH).astype(np.int64)
    return (clamp(steps + output.zero_point, output, Activation.NONE),)


SQRT = unary.define(
    "sqrt",
    SqrtAttrs,
    unary.ValueFunction(
        unary.in_double(np.sqrt),
        _sqrt_quantized,
        int16=_sqrt_quantized,
        constraint=_sqrt_constraint,
    ),
)


_FRACTION_BITS = 20  # kShift: fraction bits with which the reciprocal root is computed


RSQRT_ULPS = 2  # for floats: arithmetic/float_math.h, plus half for the reference's rounding


class RsqrtAttrs(Attrs):
    """rsqrt: one over the square root.

    Input: int8, int16 or float32 data of any rank. For integers, 0 and negative values give the
    greatest output; LiteRT stops with an error at the latter. For floats they give an infinity and
    NaN.
    """


def _rsqrt_constraint(_attrs: RsqrtAttrs, data: ArrayType, output: ArrayType) -> str | None:
    """The reason to refuse scales whose product the fixed point of int8 cannot hold."""
    if data.dtype is not DType.INT8:
        return None
    try:
        _, shift = _rsqrt_multiplier(data, output)
    except ValueError as error:
        return f"the scales are too small: {error}"
    least = _FRACTION_BITS - 31
    return None if shift >= least else f"the scales are too large: the shift is {shift}"


def _rsqrt_multiplier(data: ArrayType, output: ArrayType) -> tuple[int, int]:
    # Source: TFLite elementwise.cc, SetRsqrtOutputMultiplier: a float32 product.
    product = np.sqrt(np.float32(data.scale)) * np.float32(output.scale)
    return quantize_multiplier(1 / float(product))


def _reciprocal_of_root(x: Array) -> Array:
    return np.asarray(1 / np.sqrt(x))


def _rsqrt_int8(_attrs: RsqrtAttrs, operands: Operands) -> Arrays:
    # Source: TFLite elementwise.cc, RsqrtEvalQuantizedInt8.
    x, output = unary.centred(operands), operands.output_types[0]
    multiplier, shift = _rsqrt_multiplier(operands.input_types[0], output)
    # A centred int8 value is at most 255, so there are only so many roots.
    roots = np.array([0, *map(_reciprocal_root, range(1, 256))])[np.maximum(x, 0)]
    (stored,) = unary.requantized(roots, multiplier, shift - _FRACTION_BITS, output)
    return (np.where(x > 0, stored, np.int8(127)),)


def _reciprocal_root(value: int) -> int:
    """1 / sqrt(value) with 20 fraction bits."""
    multiplier, shift = inverse_square_root(value)
    one, exponent = np.array(1), shift + _FRACTION_BITS
    return int(multiply_by_quantized_multiplier(one, multiplier, exponent, Rounding.DOUBLE))


def _rsqrt_int16_table(_attrs: RsqrtAttrs, data: ArrayType, output: ArrayType) -> Array:
    # Source: TFLite elementwise.cc, GenericPrepare, in float32.
    most = np.float32(2**15 - 1) * np.float32(output.scale)

    def function(x: Array) -> Array:
        return np.where(x > 0, _reciprocal_of_root(np.where(x > 0, x, 1)), most)

    return tables.of_function(function, data, output)


RSQRT = unary.define(
    "rsqrt",
    RsqrtAttrs,
    unary.ValueFunction(
        unary.in_double(_reciprocal_of_root),
        _rsqrt_int8,
        int16_table=_rsqrt_int16_table,
        constraint=_rsqrt_constraint,
        ulps=RSQRT_ULPS,
    ),
)


OPS = (SQRT, RSQRT)
