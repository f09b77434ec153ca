"""Ops that move elements: transpose, layout_transform, broadcast_to, tile, take."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.relations import broadcast_shapes, fits


def _transpose(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape = types[0].shape
    axes = attrs["axes"]
    if axes is None:
        axes = tuple(reversed(range(len(shape))))
    order = [layout.axis_of(a, len(shape), "axes") for a in axes]
    if sorted(order) != list(range(len(shape))):
        raise ValueError(f"axes is {list(axes)}, expected an order of the axes of {types[0]}")
    return TensorType(tuple(shape[a] for a in order), types[0].dtype)


def _layout_transform(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    source, target = attrs["src_layout"], attrs["dst_layout"]
    if not source.isalpha() or not source.isupper() or len(set(source)) != len(source):
        raise ValueError(f"src_layout is {source[:20]!r}, expected letters such as NCHW")
    shape = layout.to_standard(types[0].shape, source, target, "src_layout")
    return TensorType(shape, types[0].dtype)


def _broadcast_to(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape = attrs["shape"]
    if broadcast_shapes(("data", "shape"), (types[0].shape, shape)) != shape:
        raise ValueError(f"data is {types[0]}, which does not broadcast to {list(shape)}")
    return TensorType(shape, types[0].dtype)


def _tile(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape, reps = types[0].shape, attrs["reps"]
    layout.positive("reps", reps)
    rank = max(len(shape), len(reps))
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
    axis, batch = layout.axis_of(attrs["axis"], len(data.shape)), attrs["batch_dims"]
    if not 0 <= batch <= min(axis, len(indices.shape)):
        raise ValueError(f"batch_dims is {batch}, expected a number in [0, axis]")
    shape = (*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :])
    return TensorType(shape, data.dtype)


_TAKE = (
    Field("batch_dims", Kind.INT, 0),
    Field("axis", Kind.INT, None),
    Field("mode", Kind.STR, "clip"),
)
_SHAPE = (Field("shape", Kind.INTS), Field("dtype", Kind.DTYPE, ""))
_LAYOUTS = (Field("src_layout", Kind.STR), Field("dst_layout", Kind.STR))

OPS = (
    RelayOp(
        "transpose", ("data",), (Field("axes", Kind.INTS, built=None, nullable=True),), _transpose
    ),
    RelayOp("layout_transform", ("data",), _LAYOUTS, _layout_transform),
    RelayOp("broadcast_to", ("data",), _SHAPE, _broadcast_to),
    RelayOp("tile", ("data",), (Field("reps", Kind.INTS),), _tile),
    RelayOp(
        "take",
        ("data", "indices"),
        _TAKE,
        _take,
        positional=("data", "indices", "axis", "batch_dims", "mode"),
    ),
)
