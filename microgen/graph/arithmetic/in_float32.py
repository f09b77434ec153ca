"""Scaling in float32, as the quantized operators of ONNX specify it: the twin of
``crt/include/microgen/requantization/requantize_float.h``, which computes the same values in
integers.

Every operation rounds once, to nearest, ties to even: the conversion of a sum, its product with the
scale, and the conversion of the product to an integer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from microgen.graph.ir.graph import Array, ArrayType

LARGEST = 2.0**29  # scale: larger ones give the same outputs, because only 0 is not saturated
LIMIT = 2**30  # of results, so that zero points can be added to them


def scaled(sums: Array, scales: npt.ArrayLike) -> Array:
    """``rint(float32(sums) * float32(scales))``, int64 of the broadcast shape, saturated at
    ``LIMIT``. Sums are integers below 2**63 in magnitude; scales are finite."""
    # Overflow gives infinity, which integers() saturates.
    with np.errstate(over="ignore", under="ignore"):
        products = np.asarray(sums).astype(np.float32) * np.asarray(scales, np.float32)
    return integers(products)


def integers(x: Array) -> Array:
    """float32 values rounded to the nearest integers, ties to even; int64, saturated at ``LIMIT``.
    NaN becomes the least integer."""
    # A cast of infinities or NaN to int64 is undefined in numpy, so they are replaced before it.
    rounded = np.nan_to_num(np.rint(x), nan=-LIMIT, posinf=LIMIT, neginf=-LIMIT)
    return np.asarray(np.clip(rounded, -LIMIT, LIMIT).astype(np.int64))


def scale_of_sums(data: ArrayType, weight: ArrayType, output: ArrayType) -> npt.NDArray[np.float64]:
    """The data's scale times the weight's scales (one, or one for each channel), divided by the
    output's scale. Product and quotient are rounded to float32. Scales above ``LARGEST`` are
    replaced by it."""
    scales = np.array(weight.quant.scale if weight.quant else (1.0,), np.float32)
    with np.errstate(all="ignore"):
        # The order of operations is part of the specification: (data * weight) / output, each
        # rounded.
        quotient = np.float32(data.scale) * scales / np.float32(output.scale)
    return np.minimum(quotient.astype(np.float64), LARGEST)


def scale_of_mean(
    data: ArrayType, output: ArrayType, count: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """The data's scale divided by ``count`` times the output's scale, in the shape of ``count``.
    Product and quotient are rounded to float32. Scales above ``LARGEST`` are replaced by it."""
    counts = np.asarray(count, np.float32)
    with np.errstate(all="ignore"):
        quotient = np.float32(data.scale) / (counts * np.float32(output.scale))
    return np.minimum(quotient.astype(np.float64), LARGEST)


def stored(values: Array, output: ArrayType) -> Array:
    """float32 values divided by the output's scale in float32, rounded, and its zero point added;
    int64. Nothing is clamped."""
    with np.errstate(all="ignore"):
        numbers: Array = integers(values / np.float32(output.scale)) + output.zero_point
    return numbers


def real(values: Array, data: ArrayType) -> Array:
    """The float32 numbers that stored integers mean, with one rounding of the product (and one of
    the difference, if it has more than 24 bits)."""
    centred = values.astype(np.int64) - data.zero_point
    with np.errstate(over="ignore"):
        return centred.astype(np.float32) * np.float32(data.scale)


def table(function: Callable[[Array], Array], data: ArrayType, output: ArrayType) -> Array:
    """The stored results of a function for each int8 value of ``data``, from -128 to 127, as op
    ``lookup`` takes them: int8 [256]. Values become float32, ``function`` is computed for the array
    float32 [256], and its results are stored and saturated as int8 values of ``output``."""
    with np.errstate(all="ignore"):
        results = function(real(np.arange(-128, 128, dtype=np.int8), data)).astype(np.float32)
    return np.clip(stored(results, output), -128, 127).astype(np.int8)
