"""Marks of compilers and devices, and tensors made of one value."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType, Type
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, RelayOp


def _same(_attrs: Attrs, types: Sequence[Type]) -> Type:
    return types[0]


def _mark(name: str) -> RelayOp:
    compiler = (Field("compiler", AttributeKind.STR),)
    return RelayOp(f"annotation.{name}", ("data",), compiler, _same, either=("data",))


# on_device and device_copy: where a value is computed.
#
# TVM's attribute is a VirtualDevice, which TVM's text keeps in the metadata. Here it is the number
# of DLPack's device type: ``on_device(%0, device_type=12)``.

_ON_DEVICE = (
    Field("device_type", AttributeKind.INT),
    Field("constrain_result", AttributeKind.BOOL, False),
    Field("constrain_body", AttributeKind.BOOL, True),
)
_DEVICE_COPY = (
    Field("src_device_type", AttributeKind.INT),
    Field("dst_device_type", AttributeKind.INT),
)


def _typed(attrs: Attrs, dtype: str) -> TensorType:
    if not dtype:
        raise ValueError("dtype is empty")
    if min(attrs["shape"], default=0) < 0:
        raise ValueError(f"shape is {list(attrs['shape'])}, expected numbers of at least 0")
    return TensorType(attrs["shape"], dtype)


def _init(attrs: Attrs, _types: Sequence[TensorType]) -> TensorType:
    return _typed(attrs, attrs["dtype"])


def _full(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    if types[0].shape:
        raise ValueError(f"fill_value is {types[0]}, expected a scalar")
    return _typed(attrs, attrs["dtype"] or types[0].dtype)


_FIELDS = (Field("shape", AttributeKind.INTS), Field("dtype", AttributeKind.DTYPE, ""))


OPS = (
    _mark("compiler_begin"),
    _mark("compiler_end"),
    RelayOp("on_device", ("body",), _ON_DEVICE, relations.identity),
    RelayOp("device_copy", ("data",), _DEVICE_COPY, relations.identity),
    RelayOp("zeros", (), _FIELDS, _init),
    RelayOp("ones", (), _FIELDS, _init),
    RelayOp("full", ("fill_value",), _FIELDS, _full),
)
