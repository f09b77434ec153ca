"""Real numbers for quantized inputs, and the real numbers that quantized outputs mean."""

from __future__ import annotations

import numpy as np

from microgen.base.errors import InputError, short
from microgen.base.manifest import PortRecord
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.base import Operands
from microgen.graph.ops.quantization.conversions import (
    DequantizeAttrs,
    QuantizeAttrs,
    dequantize_reference,
    quantize_reference,
)
from microgen.running.runner import samples


def stored(port: PortRecord, numerics: str, array: Array) -> Array:
    """An input's array with floats quantized if the input is; other arrays are unchanged."""
    if array.dtype.kind != "f" or not samples.is_quantized(port):
        return array
    return quantized(port, numerics, array)


def quantized(port: PortRecord, numerics: str, array: Array) -> Array:
    """The integers of a quantized port that stand for ``array``, floats of any shape. The floats
    are rounded to float32 first. Then the integers are the results of a quantize operator at the
    network's input: ``x / scale`` in float32, rounded to nearest, plus the zero point, clamped to
    the dtype. Halves are rounded away from zero, under the ``numerics`` profile "onnx" to even.
    Raises InputError for NaN and infinities, which the runtimes leave undefined."""
    _check_finite(port, array)
    with np.errstate(over="ignore"):
        # A larger number becomes infinite, and then the greatest integer, as it should.
        real = np.asarray(array, np.float32)
    attrs = QuantizeAttrs(ties_even=numerics == "onnx")
    types = (ArrayType(real.shape, DType.FLOAT32),), (_stored(port, real),)
    return quantize_reference(attrs, Operands((real,), *types))[0].reshape(array.shape)


def dequantized(port: PortRecord, array: Array) -> Array:
    """float32: the numbers that a quantized port's integers stand for, ``(q - zero point) * scale``
    as a dequantize operator gives them. Arrays of other ports are unchanged."""
    if not samples.is_quantized(port):
        return array
    types = (_stored(port, array),), (ArrayType(array.shape, DType.FLOAT32),)
    return dequantize_reference(DequantizeAttrs(), Operands((array,), *types))[0]


def _stored(port: PortRecord, array: Array) -> ArrayType:
    quant = Quant((port.scale,), (port.zero_point,))
    return ArrayType(array.shape, DType(port.dtype), quant)


def _check_finite(port: PortRecord, array: Array) -> None:
    wrong = ~np.isfinite(array)
    if not wrong.any():
        return
    index = tuple(map(int, np.unravel_index(int(np.argmax(wrong)), wrong.shape)))
    at = ",".join(map(str, index))
    raise InputError(
        f"the input {short(port.tensor)!r} has {array[index]} at [{at}], for which {port.dtype} "
        f"has no value ({np.count_nonzero(wrong)} of {array.size} elements are not finite)",
        hint="give finite numbers; those beyond the range become the least or greatest value",
    )
