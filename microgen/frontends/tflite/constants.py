"""The values of constants: plain arrays, and arrays that the file stores in a smaller form.

float16 and int4 are forms of storage only: importers see float32 and int8 values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.frontends.tflite.records import TensorRecord
from microgen.frontends.tflite.sparsity import Expansion, SparsityRecord
from microgen.graph.ir.graph import Array, ArrayType, DType, frozen
from microgen.graph.ops import budget
from microgen.graph.ops.cost import ReferenceCost

SMALL: Mapping[str, DType] = MappingProxyType({"float16": DType.FLOAT32, "int4": DType.INT8})
"""Dtypes that only constants have -> the dtype of their values in the graph."""


def value(record: TensorRecord, type_: ArrayType, where: str) -> Array:
    """The values as a read-only little-endian array of ``type_``.

    ModelError if the buffer does not suit the type, or holds values that its dtype does not have;
    UnsupportedError if the budget is too small.
    """
    stored = _stored(record, type_, where)
    if record.sparsity is not None:
        array = _expansion(record, record.sparsity, type_, where).dense(stored)
    else:
        array = stored.reshape(type_.shape)
    # Wider values take more memory than the file, so a small file could claim a lot.
    if record.dtype in SMALL:
        budget.spend(ReferenceCost(type_.nbytes, array.size), where)
    wide: Array = array.astype(type_.dtype.numpy, copy=False)
    _check_numbers(record, wide, where)
    return frozen(wide)


def _expansion(
    record: TensorRecord, sparsity: SparsityRecord, type_: ArrayType, where: str
) -> Expansion:
    if record.dtype == "int4":
        raise UnsupportedError(
            f'"{short(record.name)}" is a sparse tensor of int4',
            where=where,
            hint="supported: sparse tensors of int8, float16 and float32",
        )
    return Expansion(sparsity, type_.shape, f'tensor "{short(record.name)}"', where)


def _stored(record: TensorRecord, type_: ArrayType, where: str) -> Array:
    """The values in the buffer, flat; int4 values as int8."""
    size, each = math.prod(type_.shape), type_.dtype.nbytes
    each = 2 if record.dtype == "float16" else each
    # Two int4 values share a byte, and an odd number of them fills half of the last one.
    expected = -(-size // 2) if record.dtype == "int4" else size * each
    nbytes = record.data.size
    # A sparse tensor stores some of its values; Expansion compares their number with the places.
    if nbytes % each if record.sparsity else nbytes != expected:
        raise ModelError(
            f'the buffer of tensor "{short(record.name)}" has {nbytes} bytes; '
            f"{expected} are expected for {_described(record, type_)}",
            where=where,
        )
    # Each value is widened to a byte, and several arrays exist at a time.
    if record.dtype == "int4":
        budget.spend(ReferenceCost(4 * nbytes, 4 * nbytes), where)
        return _unpacked(record.data)[:size]
    return record.data.view("<f2" if record.dtype == "float16" else type_.dtype.numpy)


def _described(record: TensorRecord, type_: ArrayType) -> str:
    if record.dtype not in SMALL:
        return str(type_)
    return f"{record.dtype}[{','.join(map(str, type_.shape))}]"


def _unpacked(data: Array) -> Array:
    """Two values from each byte, the lower half first, as int8."""
    # Both values in the upper half of a byte, from where an arithmetic shift extends the sign.
    both = np.stack([data << 4, data & 0xF0], axis=-1).reshape(-1)
    signed: Array = both.view(np.int8) >> 4
    return signed


def _check_numbers(record: TensorRecord, array: Array, where: str) -> None:
    budget.spend(ReferenceCost(0, array.size // 8), where)  # many tensors may share one buffer
    # NaN has no bound and no order, so no comparison with a reference would find an error.
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ModelError(f'the constant "{short(record.name)}" holds NaN', where=where)
    if array.dtype.kind == "b" and record.data.max(initial=0) > 1:
        raise ModelError(
            f'the bool "{short(record.name)}" has values other than 0 and 1', where=where
        )
