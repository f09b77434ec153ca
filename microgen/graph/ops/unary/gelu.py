"""Tables of GELU for integers."""

from __future__ import annotations

import math

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.tables import tables
from microgen.graph.ops.unary import unary

_ROOT_HALF = np.float32(math.sqrt(0.5))
_ROOT_2_BY_PI = np.float32(math.sqrt(2 / math.pi))


def table(data: ArrayType, output: ArrayType, *, is_approximate: bool) -> Array:
    """The table with which ``lookup`` computes it for int8 or int16 data.

    Source: TFLite reference/gelu.h, GeluTransform and GeluTransformApproximate, step by step in
    float32, and activations.cc, GeluPrepare. ValueError for int16 data whose results exceed
    float32.
    """
    function = _by_tanh if is_approximate else _by_erfc
    with np.errstate(over="ignore", invalid="ignore"):
        if data.dtype is DType.INT16:
            return tables.of_function(function, data, output)
        x = unary.dequantized(Operands((unary.EVERY_INT8,), (data,), (output,)))
        (values,) = unary.quantized(function(x), output)
    return values


def _by_erfc(x: Array) -> Array:
    flat = [math.erfc(value) for value in (x * -_ROOT_HALF).tolist()]
    return np.float32(0.5) * x * np.array(flat, np.float32)


def _by_tanh(x: Array) -> Array:
    inner = _ROOT_2_BY_PI * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (np.float32(1) + unary.rounded(np.tanh, inner))
