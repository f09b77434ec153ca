"""Tables of functions, and the op that looks values up in a table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types, frozen
from microgen.graph.ops.base import (
    EXACT,
    Bound,
    Inexact,
    OpDefinition,
    Operands,
    Shapes,
    expect_inputs,
)
from microgen.graph.ops.constraints import activations_constraint, dtype_constraint

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
    # Bits 7 and up choose the entry, and the lower 7 the place between two.
    base = table[index].astype(np.int64)
    slope = (table[index + 1].astype(np.int64) - base).astype(np.int16).astype(np.int64)
    between: Array = base + ((slope * (x & 127) + 64) >> 7)
    return between.astype(np.int16)


def of_function(function: Function, data: ArrayType, output: ArrayType) -> Array:
    """The table of a function from the input's real values to the output's, both int16.

    ValueError if it has values that float32 cannot hold; TFLite's result for such values is
    arbitrary.
    """
    scale_in, scale_out = np.float32(data.scale), np.float32(output.scale)
    table = _populated(function, scale_in * _LEAST, scale_in * _MOST, scale_out)
    if np.isnan(table).any():
        raise ValueError("the function's values exceed float32")
    return frozen(table.astype(np.int16))


def _populated(function: Function, low: Any, high: Any, scale: Any) -> Array:
    # Source: TFLite internal/common.h, LUTPopulateInt16, in the floating-point type of ``scale``.
    kind = type(scale)
    step = (high - low) / kind(_STEPS)
    at = low + np.arange(_STEPS, dtype=kind) * step
    # The order of operations is TFLite's, because each is rounded.
    inverse = kind(_RANGE + 1) / (scale * kind(_MOST) - scale * kind(_LEAST))
    with np.errstate(over="ignore", invalid="ignore"):
        value, middle = function(at) * inverse, function(at + step / kind(2)) * inverse
        following = function(low + np.arange(1, ENTRIES, dtype=kind) * step) * inverse
        sample = _rounded(value)
        error = _rounded((following + sample) / kind(2)) - _rounded(middle)
        # An entry differs from the function by half the error that interpolation makes in the
        # middle of its step, so that the error is spread evenly.
        entries = sample - _rounded(error / kind(2))
        last = _rounded(function(np.array([high], kind)) * inverse)
    return np.asarray(np.clip(np.concatenate([entries, last]), _LEAST, _MOST))


def _rounded(x: Array) -> Array:
    """C's ``round`` of each value: halves away from zero."""
    return np.asarray(np.copysign(np.floor(np.abs(x).astype(np.float64) + 0.5), x).astype(x.dtype))


def _softmax_table(function: Function, low: float, high: float) -> Array:
    """A table of Q0.15 results."""
    # Source: TFLite activations.cc, SoftmaxPrepare, in double.
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

    The last entry is the result for saturated values. Source: TFLite internal/common.cc,
    sigmoid_table_uint16.
    """

    def exact(i: Array) -> Array:
        return np.asarray(2**16 / (1 + np.exp(-i / 24)))

    # TFLite only lists the numbers; this formula gives all of them. Entries differ from the
    # function as in ``_populated``, but are rounded once.
    i = np.arange(255, dtype=np.float64)
    error = (exact(i) + exact(i + 1)) / 2 - exact(i + 0.5)
    return frozen(np.append(_rounded(exact(i) - error / 2), 2**16 - 1).astype(np.int64))


LEAST = -128  # the stored value whose entry is the table's first
_MOST_OFF = 4  # steps by which data may be off
LOOKUP_ENTRIES = {DType.INT8: 256, DType.INT16: ENTRIES}


@dataclass(frozen=True, slots=True)
class LookupAttrs(Attrs):
    """lookup: each value replaced by its entry in a table.

    Inputs: int8 data of any rank and int8[256] entries in order of the stored value; or int16 data
    and int16[513] entries, interpolated as ``microgen.graph.ops.tables.tables`` says.

    ``function`` is the name of the op that the table was computed from.
    """

    function: str


def _lookup_infer(_attrs: LookupAttrs, inputs: Types) -> Shapes:
    """The data's shape."""
    expect_inputs(inputs, 2, "data and table", by="lookup")
    entries = LOOKUP_ENTRIES.get(inputs[0].dtype)
    if entries is not None and inputs[1].shape != (entries,):
        raise ValueError(f"the table is {inputs[1]}; it must have {entries} entries")
    return (inputs[0].shape,)


def _lookup_check(_attrs: LookupAttrs, inputs: Types, outputs: Types) -> str | None:
    """int8 or int16 throughout."""
    data, table = inputs
    sentence = activations_constraint(data, outputs[0], tuple(LOOKUP_ENTRIES))
    return sentence or dtype_constraint("table", table, (data.dtype,))


def _lookup_reference(_attrs: LookupAttrs, operands: Operands) -> Arrays:
    """The entry at each stored value + 128; for int16 the interpolated one."""
    data, table = operands.inputs
    if operands.input_types[0].dtype is DType.INT16:
        return (interpolated(table, data),)
    return (table[data.astype(np.intp) - LEAST],)


def words(_word: str, attrs: LookupAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name: the words of the tabulated function."""
    return (attrs.function.replace(".", "_"),)


def _lookup_bound(attrs: LookupAttrs, inexact: Inexact) -> Arrays:
    """The greatest change of the entry if int8 data differs by a few steps."""
    data, error = inexact.operands.inputs[0], inexact.errors[0]
    if (
        inexact.is_exact
        or inexact.errors[1].any()
        or data.dtype != np.int8
        or error.max() > _MOST_OFF
    ):
        return EXACT.of(attrs, inexact)
    (expected,), limit = inexact.expected, np.zeros(data.shape)
    for step in range(-_MOST_OFF, _MOST_OFF + 1):
        at = np.clip(data.astype(np.intp) + step, LEAST, LEAST + 255) - LEAST
        apart = np.abs(inexact.operands.inputs[1][at].astype(np.float64) - expected)
        limit = np.maximum(limit, np.where(abs(step) <= error, apart, 0))
    return (limit,)


LOOKUP = OpDefinition(
    "lookup",
    LookupAttrs,
    _lookup_infer,
    _lookup_check,
    _lookup_reference,
    words,
    bound=Bound("equal", _lookup_bound),
)


OPS = (LOOKUP,)
