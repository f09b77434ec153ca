"""lookup: each value replaced by its entry in a table of 256."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, DType, TensorType
from microgen.ops.base import Op, Operands, Shape
from microgen.ops.constraints import activations_constraint

LEAST = -128  # the stored value whose entry is the table's first
ENTRIES = 256


@dataclass(frozen=True, slots=True)
class LookupAttrs(Attrs):
    """Inputs: int8 data of any rank, int8[256] entries in order of the stored value.

    ``function`` is the name of the op that the table was computed from.
    """

    function: str


def infer(_attrs: LookupAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The data's shape."""
    if len(inputs) != 2:
        raise ValueError(f"lookup has {len(inputs)} inputs; data and table are expected")
    if inputs[1].shape != (ENTRIES,):
        raise ValueError(f"the table is {inputs[1]}; it must have {ENTRIES} entries")
    return (inputs[0].shape,)


def check(
    _attrs: LookupAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8 throughout."""
    data, table = inputs
    if table.dtype is not DType.INT8:
        return f"the table is {table}; it must be int8"
    return activations_constraint(data, outputs[0])


def reference(_attrs: LookupAttrs, operands: Operands) -> tuple[Array, ...]:
    """The entry at each stored value + 128."""
    data, table = operands.inputs
    return (table[data.astype(np.intp) - LEAST],)


def parts(attrs: LookupAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name: those of the function."""
    return (attrs.function.replace(".", "_"),)


OP = Op("lookup", LookupAttrs, infer, check, reference, parts)
