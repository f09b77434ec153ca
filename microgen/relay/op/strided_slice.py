"""strided_slice: TVM's StridedSliceRel (src/relay/op/tensor/transform.cc)."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.relations import fits

_FAR = 2**63 - 1


def bounds(attrs: Attrs, shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """(first, end, stride) for every axis, clamped. With a negative stride, ``end`` may be -1."""
    axes = attrs["axes"]
    if axes is None:
        axes = tuple(range(len(shape)))
    else:
        axes = tuple(layout.axis_of(a, len(shape), "axes") for a in axes)
    found = [(0, d, 1) for d in shape]
    for i, axis in enumerate(axes):
        found[axis] = _axis(attrs, i, shape[axis])
    return found


def _axis(attrs: Attrs, i: int, size: int) -> tuple[int, int, int]:
    strides = attrs["strides"] or ()
    stride = strides[i] if i < len(strides) and attrs["slice_mode"] == "end" else 1
    begin = attrs["begin"][i] if i < len(attrs["begin"]) else (0 if stride > 0 else _FAR)
    end = attrs["end"][i] if i < len(attrs["end"]) else (_FAR if stride > 0 else 0)
    if attrs["slice_mode"] == "size":
        end = _FAR if end < 0 else begin + end
    if stride == 0:
        raise ValueError("strides has a 0")
    return _clamped(begin, size, stride), _clamped(end, size, stride), stride


def _clamped(index: int, size: int, stride: int) -> int:
    low, high = (-1, size - 1) if stride < 0 else (0, size)
    return min(max(index + size if index < 0 else index, low), high)


def _relation(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    fits("slice_mode", attrs["slice_mode"], ("end", "size"))
    data = types[0]
    counts = [len(attrs[n]) for n in ("begin", "end", "axes") if attrs[n] is not None]
    if max(counts) > len(data.shape) or (attrs["axes"] is not None and len(set(counts)) > 1):
        raise ValueError(f"begin, end and axes have {counts} numbers, but data is {data}")
    shape = []
    for first, end, stride in bounds(attrs, data.shape):
        if (end - first) * stride < 0:
            raise ValueError(f"the slice from {first} to {end} goes against its stride {stride}")
        shape.append((abs(end - first) + abs(stride) - 1) // abs(stride))
    return TensorType(tuple(shape), data.dtype)


_FIELDS = (
    Field("begin", Kind.INTS),
    Field("end", Kind.INTS),
    Field("strides", Kind.INTS, built=(1,)),
    Field("slice_mode", Kind.STR, "end"),
    Field("axes", Kind.INTS, built=None, nullable=True),
)

OPS = (
    RelayOp(
        "strided_slice",
        ("data",),
        _FIELDS,
        _relation,
        positional=("data", "begin", "end", "strides", "axes", "slice_mode"),
    ),
)
