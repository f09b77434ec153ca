"""Ops that make a tensor from one value: zeros, ones, full."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op.base import Field, Kind, RelayOp


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


_FIELDS = (Field("shape", Kind.INTS), Field("dtype", Kind.DTYPE, ""))

OPS = (
    RelayOp("zeros", (), _FIELDS, _init),
    RelayOp("ones", (), _FIELDS, _init),
    RelayOp("full", ("fill_value",), _FIELDS, _full),
)
