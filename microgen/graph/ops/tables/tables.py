"""Tables of functions of int16 values, with linear interpolation between their entries: twins of
``crt/include/microgen/tables/interpolate_s16.h`` and the headers that include it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array, TensorType, frozen

ENTRIES = 513  # one for every 128th int16 value, and one past the end
_STEPS = ENTRIES - 1
_LEAST, _MOST = -(2**15), 2**15 - 1
_RANGE = _MOST - _LEAST

Function = Callable[[Array], Array]  # of real values, in the floating-point type of its argument


def interpolated(table: Array, values: Array) -> Array:
    """The int16 entry at each int16 value, interpolated between every 128th.

    Source: TFLite internal/common.h, LUTLookup, whose differences and sums are int16.
    """
    x = values.astype(np.int64)
    index = (x >> 7) + 256
    base = table[index].astype(np.int64)
    slope = (table[index + 1].astype(np.int64) - base).astype(np.int16).astype(np.int64)
    between: Array = base + ((slope * (x & 127) + 64) >> 7)
    return between.astype(np.int16)


def of_function(function: Function, data: TensorType, output: TensorType) -> Array:
    """The table of a function from the input's real values to the output's, both int16.

    ValueError if it has values that float32 cannot hold; TFLite's result for these is arbitrary.
    """
    scale_in, scale_out = np.float32(data.scale), np.float32(output.scale)
    table = _populated(function, scale_in * _LEAST, scale_in * _MOST, scale_out)
    if np.isnan(table).any():
        raise ValueError("the function's values exceed float32")
    return frozen(table.astype(np.int16))


def _populated(function: Function, low: Any, high: Any, scale: Any) -> Array:
    """Source: TFLite internal/common.h, LUTPopulateInt16, in the floating-point type of ``scale``.

    An entry differs from the function by half the error that interpolation makes in the middle of
    its step, so that the error is spread evenly.
    """
    kind = type(scale)
    step = (high - low) / kind(_STEPS)
    at = low + np.arange(_STEPS, dtype=kind) * step
    inverse = kind(_RANGE + 1) / (scale * kind(_MOST) - scale * kind(_LEAST))
    with np.errstate(over="ignore", invalid="ignore"):
        value, middle = function(at) * inverse, function(at + step / kind(2)) * inverse
        following = function(low + np.arange(1, ENTRIES, dtype=kind) * step) * inverse
        sample = _rounded(value)
        error = _rounded((following + sample) / kind(2)) - _rounded(middle)
        entries = sample - _rounded(error / kind(2))
        last = _rounded(function(np.array([high], kind)) * inverse)
    table: Array = np.clip(np.concatenate([entries, last]), _LEAST, _MOST)
    return table


def _rounded(x: Array) -> Array:
    """C's ``round`` of each value: halves away from zero."""
    nearest: Array = np.copysign(np.floor(np.abs(x).astype(np.float64) + 0.5), x).astype(x.dtype)
    return nearest


def _softmax_table(function: Function, low: float, high: float) -> Array:
    """A table of Q0.15 results. Source: TFLite activations.cc, SoftmaxPrepare, in double."""
    table = _populated(function, np.float64(low), np.float64(high), np.float64(2 / _RANGE))
    return frozen(table.astype(np.int16))


@functools.cache
def exp_of_negative() -> Array:
    """The table of exp(x) for x from -10 to 0, as Q0.15."""
    return _softmax_table(np.exp, (10 / _RANGE) * -_RANGE, 0.0)


@functools.cache
def one_over_one_plus() -> Array:
    """The table of 1 / (1 + x) for x from 0 to 1, as Q0.15."""
    return _softmax_table(lambda x: 1 / (1 + x), 0.0, (1 / _RANGE) * _RANGE)


@functools.cache
def sigmoid() -> Array:
    """The sigmoid of i / 24 for i from 0 to 255, as Q0.16; int64[256].

    Entries differ from the function as in ``_populated``, but are rounded once. The last entry is
    the result for saturated values. TFLite only lists the numbers (internal/common.cc,
    sigmoid_table_uint16); this formula gives all of them.
    """

    def exact(i: Array) -> Array:
        values: Array = 2**16 / (1 + np.exp(-i / 24))
        return values

    i = np.arange(255, dtype=np.float64)
    error = (exact(i) + exact(i + 1)) / 2 - exact(i + 0.5)
    return frozen(np.append(_rounded(exact(i) - error / 2), 2**16 - 1).astype(np.int64))
