"""Ops that join, split, move or pad."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType, TupleType
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, RelayOp
from microgen.relay.op.relations import broadcast_shapes, fits, same_dtype


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
    at = relations.axis_of(axis, len(shape))
    for tensor in fields:
        if any(a != b for i, (a, b) in enumerate(zip(tensor.shape, shape, strict=True)) if i != at):
            raise ValueError(f"data is {data}, whose shapes differ in more than axis {at}")
    shape[at] = sum(f.shape[at] for f in fields)
    return TensorType(tuple(shape), fields[0].dtype)


# TVM v0.14: src/relay/op/tensor/transform.cc has the relations of these ops.
def _concatenate(attrs: Attrs, types: Sequence[TupleType]) -> TensorType:
    return concatenated(attrs["axis"], types[0])


def _stack(attrs: Attrs, types: Sequence[TupleType]) -> TensorType:
    fields = tensors(types[0])
    shape = fields[0].shape
    if any(f.shape != shape for f in fields):
        raise ValueError(f"data is {types[0]}, expected tensors of equal shape")
    at = relations.axis_of(attrs["axis"], len(shape) + 1)
    return TensorType((*shape[:at], len(fields), *shape[at:]), fields[0].dtype)


def _sizes(parts: int | tuple[int, ...], size: int) -> list[int]:
    """The lengths of the parts into which an axis of ``size`` is split."""
    if isinstance(parts, int):
        # A tuple has at most 1024 values (``infer_type``).
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
    at = relations.axis_of(attrs["axis"], len(data.shape))
    shapes = (
        (*data.shape[:at], size, *data.shape[at + 1 :])
        for size in _sizes(attrs["indices_or_sections"], data.shape[at])
    )
    return TupleType(tuple(TensorType(s, data.dtype) for s in shapes))


def _where(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    names = ("condition", "x", "y")
    same_dtype(names[1:], types[1:])
    return TensorType(broadcast_shapes(names, [t.shape for t in types]), types[1].dtype)


AXIS = Field("axis", AttributeKind.INT, 0)
_SPLIT = (Field("indices_or_sections", AttributeKind.SECTIONS), AXIS)


def _transpose(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape = types[0].shape
    axes = attrs["axes"]
    if axes is None:
        axes = tuple(reversed(range(len(shape))))
    order = [relations.axis_of(a, len(shape), "axes") for a in axes]
    if sorted(order) != list(range(len(shape))):
        raise ValueError(f"axes is {list(axes)}, expected an order of the axes of {types[0]}")
    return TensorType(tuple(shape[a] for a in order), types[0].dtype)


def _layout_transform(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    source, target = attrs["src_layout"], attrs["dst_layout"]
    if not source.isalpha() or not source.isupper() or len(set(source)) != len(source):
        raise ValueError(f"src_layout is {source[:20]!r}, expected letters such as NCHW")
    shape = relations.to_standard(types[0].shape, attrs, "src_layout", target)
    return TensorType(shape, types[0].dtype)


def _broadcast_to(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape = attrs["shape"]
    if broadcast_shapes(("data", "shape"), (types[0].shape, shape)) != shape:
        raise ValueError(f"data is {types[0]}, which does not broadcast to {list(shape)}")
    return TensorType(shape, types[0].dtype)


def _tile(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape, reps = types[0].shape, attrs["reps"]
    relations.positive("reps", reps)
    rank = max(len(shape), len(reps))
    # Missing axes are the first ones, both in the data and in ``reps``.
    shape = (1,) * (rank - len(shape)) + shape
    reps = (1,) * (rank - len(reps)) + reps
    return TensorType(tuple(d * r for d, r in zip(shape, reps, strict=True)), types[0].dtype)


def _take(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("mode", attrs["mode"], ("clip", "wrap", "fast"))
    data, indices = types[0], types[1]
    if not indices.dtype.startswith(("int", "uint")):
        raise ValueError(f"indices is {indices}, expected integers")
    if attrs["axis"] is None:
        return TensorType(indices.shape, data.dtype)
    axis, batch = relations.axis_of(attrs["axis"], len(data.shape)), attrs["batch_dims"]
    if not 0 <= batch <= min(axis, len(indices.shape)):
        raise ValueError(f"batch_dims is {batch}, expected a number in [0, axis]")
    # The batch axes of the indices are axes of the data, and are not repeated.
    shape = (*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :])
    return TensorType(shape, data.dtype)


_TAKE = (
    Field("batch_dims", AttributeKind.INT, 0),
    Field("axis", AttributeKind.INT, None),
    Field("mode", AttributeKind.STR, "clip"),
)
_SHAPE = (Field("shape", AttributeKind.INTS), Field("dtype", AttributeKind.DTYPE, ""))
_LAYOUTS = (Field("src_layout", AttributeKind.STR), Field("dst_layout", AttributeKind.STR))


# PadRel and MirrorPadRel (src/relay/op/nn/pad.cc).
def _padded(attrs: Attrs, data: TensorType) -> TensorType:
    widths = attrs["pad_width"]
    if len(widths) != len(data.shape):
        raise ValueError(f"pad_width has {len(widths)} pairs, but data is {data}")
    if any(min(pair) < 0 for pair in widths):
        raise ValueError("pad_width has a negative number")
    shape = (d + before + after for d, (before, after) in zip(data.shape, widths, strict=True))
    return TensorType(tuple(shape), data.dtype)


def _pad(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("pad_mode", attrs["pad_mode"], ("constant", "edge", "reflect"))
    if types[1].shape:
        raise ValueError(f"pad_value is {types[1]}, expected a scalar")
    return _padded(attrs, types[0])


def _mirror_pad(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("mode", attrs["mode"], ("SYMMETRIC", "REFLECT"))
    return _padded(attrs, types[0])


_AXES = Field("axes", AttributeKind.INTS, built=None, nullable=True)
_WIDTH = Field("pad_width", AttributeKind.PAIRS)


OPS = (
    RelayOp("concatenate", ("data",), (AXIS,), _concatenate, tuples=("data",)),
    RelayOp("stack", ("data",), (AXIS,), _stack, tuples=("data",)),
    RelayOp("split", ("data",), _SPLIT, _split),
    RelayOp("where", ("condition", "x", "y"), (), _where),
    RelayOp("transpose", ("data",), (_AXES,), _transpose),
    RelayOp("layout_transform", ("data",), _LAYOUTS, _layout_transform),
    RelayOp("broadcast_to", ("data",), _SHAPE, _broadcast_to),
    RelayOp("tile", ("data",), (Field("reps", AttributeKind.INTS),), _tile),
    RelayOp(
        "take",
        ("data", "indices"),
        _TAKE,
        _take,
        positional=("data", "indices", "axis", "batch_dims", "mode"),
    ),
    RelayOp(
        "nn.pad",
        ("data", "pad_value"),
        (_WIDTH, Field("pad_mode", AttributeKind.STR, "constant")),
        _pad,
        positional=("data", "pad_width", "pad_value", "pad_mode"),
        defaults={"pad_value": 0},
    ),
    RelayOp(
        "nn.mirror_pad",
        ("data",),
        (Field("mode", AttributeKind.STR, "SYMMETRIC"), _WIDTH),
        _mirror_pad,
        positional=("data", "pad_width", "mode"),
    ),
)
