"""Ops that join several tensors or split one: concatenate, stack, split, where."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType, TupleType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.relations import broadcast_shapes, same_dtype


def tensors(data: TupleType) -> list[TensorType]:
    """The fields of a tuple. There must be at least one, all tensors of the same dtype and rank."""
    fields = [f for f in data.fields if isinstance(f, TensorType)]
    if not fields or len(fields) != len(data.fields):
        raise ValueError(f"data is {data}, expected tensors")
    same_dtype([f"field {i} of data" for i in range(len(fields))], fields)
    if len({len(f.shape) for f in fields}) > 1:
        raise ValueError(f"data is {data}, expected tensors of equal rank")
    return fields


def concatenated(axis: int, data: TupleType) -> TensorType:
    """The type of the fields joined along ``axis``."""
    fields = tensors(data)
    shape = list(fields[0].shape)
    at = layout.axis_of(axis, len(shape))
    for found in fields:
        if any(a != b for i, (a, b) in enumerate(zip(found.shape, shape, strict=True)) if i != at):
            raise ValueError(f"data is {data}, whose shapes differ in more than axis {at}")
    shape[at] = sum(f.shape[at] for f in fields)
    return TensorType(tuple(shape), fields[0].dtype)


def _concatenate(attrs: Attrs, types: Sequence[TupleType]) -> TensorType:
    return concatenated(attrs["axis"], types[0])


def _stack(attrs: Attrs, types: Sequence[TupleType]) -> TensorType:
    fields = tensors(types[0])
    shape = fields[0].shape
    if any(f.shape != shape for f in fields):
        raise ValueError(f"data is {types[0]}, expected tensors of equal shape")
    at = layout.axis_of(attrs["axis"], len(shape) + 1)
    return TensorType((*shape[:at], len(fields), *shape[at:]), fields[0].dtype)


def _sizes(parts: int | tuple[int, ...], size: int) -> list[int]:
    """The lengths of the parts into which an axis of ``size`` is split."""
    if isinstance(parts, int):
        if not 1 <= parts <= 1024 or size % parts:
            raise ValueError(f"cannot split an axis of {size} into {parts} equal parts")
        return [size // parts] * parts
    edges = [0, *parts, size]
    sizes = [b - a for a, b in itertools.pairwise(edges)]
    if min(sizes) < 0 or len(sizes) > 1024:
        raise ValueError(f"cannot split an axis of {size} at {list(parts[:8])}")
    return sizes


def _split(attrs: Attrs, types: Sequence[TensorType]) -> TupleType:
    data = types[0]
    at = layout.axis_of(attrs["axis"], len(data.shape))
    shapes = (
        (*data.shape[:at], size, *data.shape[at + 1 :])
        for size in _sizes(attrs["indices_or_sections"], data.shape[at])
    )
    return TupleType(tuple(TensorType(s, data.dtype) for s in shapes))


def _where(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    names = ("condition", "x", "y")
    same_dtype(names[1:], types[1:])
    return TensorType(broadcast_shapes(names, [t.shape for t in types]), types[1].dtype)


AXIS = Field("axis", Kind.INT, 0)
_SPLIT = (Field("indices_or_sections", Kind.SECTIONS), AXIS)

OPS = (
    RelayOp("concatenate", ("data",), (AXIS,), _concatenate, tuples=("data",)),
    RelayOp("stack", ("data",), (AXIS,), _stack, tuples=("data",)),
    RelayOp("split", ("data",), _SPLIT, _split),
    RelayOp("where", ("condition", "x", "y"), (), _where),
)
