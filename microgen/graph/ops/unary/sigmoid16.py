"""Shared by tanh and sigmoid of int16: the twin of
``crt/include/microgen/unary/sigmoid_table_s16.h``.

Their argument is converted to steps of 1 / (3 * 2**12). 2**9 of these are a step of the table for
sigmoid, 2**8 for tanh, whose argument is doubled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, TensorType
from microgen.graph.ops.tables import tables

_STEPS = 3 * 2**12
_LAST = 255  # beyond this entry the functions are saturated
_MULTIPLIER_LIMIT = 2**15 - 1
_MAX_MULTIPLIER = 2**16 - 1  # products with int16 must fit int32
_SATURATED = 2**31
_MOST_SHIFTS = 31


@dataclass(frozen=True, slots=True)
class SigmoidParameters:
    """A stored value times ``multiplier`` / 2**``shift``, rounded, is the argument in steps."""

    multiplier: int
    shift: int


def power_of_two(scale: float) -> int | None:
    """The exponent of a scale that is a power of two within 0.07 %, else None.

    Source: TFLite quantization_util.cc, CheckedLog2, in float32.
    """
    one_over_log_2 = np.float32(1) / np.float32(math.log(2))
    log_2 = np.float32(math.log(np.float32(scale))) * one_over_log_2
    nearest = np.round(log_2)
    return int(nearest) if abs(log_2 - nearest) < np.float32(1e-3) else None


def parameters(data: TensorType, powers: tuple[int, ...]) -> SigmoidParameters:
    """The parameters. Source: TFLite activations.cc, TanhPrepare and SigmoidPrepare. ``powers`` are
    the exponents of scales that need no shift."""
    power = power_of_two(data.scale)
    if power in powers:
        assert power is not None
        return SigmoidParameters(3 << (power + 12), 0)
    multiplier, shift = float(np.float32(data.scale)) * _STEPS, 0
    while multiplier <= _MULTIPLIER_LIMIT / 2 and shift < _MOST_SHIFTS:
        multiplier, shift = multiplier * 2, shift + 1
    return SigmoidParameters(int(multiplier), shift)


def constraint(data: TensorType) -> str | None:
    """The sentence for an input's scale whose products do not fit int32. TFLite reads a multiplier
    of 0, which the least scales have, as that of a power of two, and shifts it out of int32."""
    if data.scale * _STEPS * 2**_MOST_SHIFTS < 1:
        least = 1 / (_STEPS * 2**_MOST_SHIFTS)
        return f"the input's scale is {data.scale:g}; it must be {least:g} or more"
    if data.scale * _STEPS < _MAX_MULTIPLIER + 1:
        return None
    return f"the input's scale is {data.scale:g}; it must be below {2**16 / _STEPS:g}"


def scaled(values: Array, p: SigmoidParameters) -> Array:
    """Stored values as steps, int64."""
    half = (1 << p.shift) >> 1
    steps: Array = (values.astype(np.int64) * p.multiplier + half) >> p.shift
    return steps


def interpolated(steps: Array, bits: int) -> Array:
    """The table's value at steps >= 0, times 2**``bits``, where 2**``bits`` steps lie between two
    entries. Beyond the table it is a large number."""
    table = tables.sigmoid()
    index = np.minimum(steps >> bits, _LAST - 1)
    base = table[index]
    value = (base << bits) + (steps & ((1 << bits) - 1)) * (table[index + 1] - base)
    return np.where(steps >> bits >= _LAST, _SATURATED, value)
