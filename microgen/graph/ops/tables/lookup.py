"""lookup: each value replaced by its entry in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import EXACT, Bound, Inexact, Op, Operands, Shape
from microgen.graph.ops.constraints import activations_constraint
from microgen.graph.ops.tables import tables

LEAST = -128  # the stored value whose entry is the table's first
_MOST_OFF = 4  # steps by which data may be off
ENTRIES = {DType.INT8: 256, DType.INT16: tables.ENTRIES}


@dataclass(frozen=True, slots=True)
class LookupAttrs(Attrs):
    """Inputs: int8 data of any rank and int8[256] entries in order of the stored value; or int16
    data and int16[513] entries, interpolated as ``microgen.graph.ops.tables.tables`` says.

    ``function`` is the name of the op that the table was computed from.
    """

    function: str


def infer(_attrs: LookupAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The data's shape."""
    if len(inputs) != 2:
        raise ValueError(f"lookup has {len(inputs)} inputs; data and table are expected")
    entries = ENTRIES.get(inputs[0].dtype)
    if entries is not None and inputs[1].shape != (entries,):
        raise ValueError(f"the table is {inputs[1]}; it must have {entries} entries")
    return (inputs[0].shape,)


def check(
    _attrs: LookupAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8 or int16 throughout."""
    data, table = inputs
    sentence = activations_constraint(data, outputs[0], tuple(ENTRIES))
    if sentence is None and table.dtype is not data.dtype:
        return f"the table is {table}; it must be {data.dtype.value}"
    return sentence


def reference(_attrs: LookupAttrs, operands: Operands) -> tuple[Array, ...]:
    """The entry at each stored value + 128; for int16 the interpolated one."""
    data, table = operands.inputs
    if operands.input_types[0].dtype is DType.INT16:
        return (tables.interpolated(table, data),)
    return (table[data.astype(np.intp) - LEAST],)


def parts(attrs: LookupAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name, which are those of the function."""
    return (attrs.function.replace(".", "_"),)


def _bound(attrs: LookupAttrs, given: Inexact) -> tuple[Array, ...]:
    """The greatest change of the entry if int8 data is a few steps off."""
    data, error = given.operands.inputs[0], given.errors[0]
    if given.is_exact or given.errors[1].any() or data.dtype != np.int8 or error.max() > _MOST_OFF:
        return EXACT.of(attrs, given)
    (expected,), found = given.expected, np.zeros(data.shape)
    for step in range(-_MOST_OFF, _MOST_OFF + 1):
        at = np.clip(data.astype(np.intp) + step, LEAST, LEAST + 255) - LEAST
        apart = np.abs(given.operands.inputs[1][at].astype(np.float64) - expected)
        found = np.maximum(found, np.where(abs(step) <= error, apart, 0))
    return (found,)


OP = Op(
    "lookup",
    LookupAttrs,
    infer,
    check,
    reference,
    parts,
    bound=Bound("equal", _bound),
)
