"""Ops whose output shape is an attribute."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, RelayOp
from microgen.relay.op.relations import fits

# reshape: TVM's InferNewShape (src/relay/op/tensor/transform.cc), and other views of the bytes.
#
# Codes of ``newshape``: 0 copies an axis, -1 is the rest, -2 copies all axes that follow, -3 merges
# two axes, and -4 splits an axis into the two numbers that follow (one of which may be -1).

_MAX_CODES = 64


def _new_shape(shape: tuple[int, ...], codes: Sequence[int], allowzero: bool) -> list[int]:
    """The output's axes, with -1 for an axis whose size is not known yet."""
    left, left_codes, out = list(shape), list(codes), list[int]()

    def take() -> int:
        if not left:
            raise ValueError("newshape asks for more axes than the data has")
        return left.pop(0)

    while left_codes:
        code = left_codes.pop(0)
        if code > 0 or code == -1 or (code == 0 and allowzero):
            out.append(code)
            # As in TVM, such a number uses up one of the input's remaining axes, if there is one.
            del left[:1]
        elif code == 0:
            out.append(take())
        elif code == -2:
            out += left
            left.clear()
        elif code == -3:
            out.append(take() * take())
        elif code == -4:
            out += _parts(take(), left_codes)
        else:
            raise ValueError(f"newshape has the code {code}, expected none below -4")
    return out


def _parts(size: int, left_codes: list[int]) -> list[int]:
    """The two axes into which an axis is split. Takes their codes from ``left_codes``."""
    if len(left_codes) < 2:
        raise ValueError("newshape ends within a split (-4)")
    first, second = left_codes.pop(0), left_codes.pop(0)
    if first == -1 and second > 0:
        first = size // second
    if second == -1 and first > 0:
        second = size // first
    if first * second != size or first < 0:
        raise ValueError(f"newshape splits an axis of {size} into {first} and {second}")
    return [first, second]


def _reshape(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    data = types[0]
    size = math.prod(data.shape)
    if len(attrs["newshape"]) > _MAX_CODES:
        raise ValueError(f"newshape has more than {_MAX_CODES} numbers")
    shape = _new_shape(data.shape, attrs["newshape"], attrs["allowzero"])
    if shape.count(-1) > 1:
        raise ValueError("newshape has -1 twice")
    if -1 in shape:
        known = math.prod(d for d in shape if d != -1)
        # If there is a remainder, the next check fails.
        shape[shape.index(-1)] = size // known if known else 0
    if math.prod(shape) != size:
        raise ValueError(f"data has {size} elements, but newshape means {shape}")
    return TensorType(tuple(shape), data.dtype)


def _squeeze(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape = types[0].shape
    if attrs["axis"] is None:
        return TensorType(tuple(d for d in shape if d != 1), types[0].dtype)
    axes = {relations.axis_of(a, len(shape)) for a in attrs["axis"]}
    for axis in axes:
        if shape[axis] != 1:
            raise ValueError(f"axis {axis} of {types[0]} is not 1")
    return TensorType(tuple(d for i, d in enumerate(shape) if i not in axes), types[0].dtype)


def _expand_dims(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    shape, count = types[0].shape, attrs["num_newaxis"]
    if not 0 <= count <= 32:
        raise ValueError(f"num_newaxis is {count}, expected a number in [0, 32]")
    at = relations.axis_of(attrs["axis"], len(shape) + 1)
    return TensorType((*shape[:at], *[1] * count, *shape[at:]), types[0].dtype)


def _batch_flatten(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    if not types[0].shape:
        raise ValueError("data is a scalar, expected at least one axis")
    return TensorType((types[0].shape[0], math.prod(types[0].shape[1:])), types[0].dtype)


_NEWSHAPE = (Field("newshape", AttributeKind.INTS), Field("allowzero", AttributeKind.BOOL, False))
_EXPAND = (Field("axis", AttributeKind.INT), Field("num_newaxis", AttributeKind.INT, 1))


_FAR = 2**63 - 1  # clamped to the end of any axis


def bounds(attrs: Attrs, shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """(first, end, stride) for every axis, clamped. With a negative stride, ``end`` may be -1."""
    axes = attrs["axes"]
    if axes is None:
        axes = tuple(range(len(shape)))
    else:
        axes = tuple(relations.axis_of(a, len(shape), "axes") for a in axes)
    slices = [(0, d, 1) for d in shape]
    for i, axis in enumerate(axes):
        slices[axis] = _axis(attrs, i, shape[axis])
    return slices


def _axis(attrs: Attrs, i: int, size: int) -> tuple[int, int, int]:
    strides = attrs["strides"] or ()
    stride = strides[i] if i < len(strides) and attrs["slice_mode"] == "end" else 1
    # Missing numbers mean the whole axis, in the direction of the stride.
    begin = attrs["begin"][i] if i < len(attrs["begin"]) else (0 if stride > 0 else _FAR)
    end = attrs["end"][i] if i < len(attrs["end"]) else (_FAR if stride > 0 else 0)
    if attrs["slice_mode"] == "size":
        end = _FAR if end < 0 else begin + end
    if stride == 0:
        raise ValueError("strides has a 0")
    # Python clamps as TVM does. A slice that goes down ends before element 0, which is -1.
    return slice(begin, end, stride).indices(size)


# StridedSliceRel (src/relay/op/tensor/transform.cc).
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
        # Rounded up: the last step may lead past the end.
        shape.append((abs(end - first) + abs(stride) - 1) // abs(stride))
    return TensorType(tuple(shape), data.dtype)


_FIELDS = (
    Field("begin", AttributeKind.INTS),
    Field("end", AttributeKind.INTS),
    Field("strides", AttributeKind.INTS, built=(1,)),
    Field("slice_mode", AttributeKind.STR, "end"),
    Field("axes", AttributeKind.INTS, built=None, nullable=True),
)


OPS = (
    RelayOp("reshape", ("data",), _NEWSHAPE, _reshape),
    RelayOp("squeeze", ("data",), (Field("axis", AttributeKind.INTS, None),), _squeeze),
    RelayOp("expand_dims", ("data",), _EXPAND, _expand_dims),
    RelayOp("nn.batch_flatten", ("data",), (), _batch_flatten),
    RelayOp(
        "strided_slice",
        ("data",),
        _FIELDS,
        _relation,
        positional=("data", "begin", "end", "strides", "axes", "slice_mode"),
    ),
)
