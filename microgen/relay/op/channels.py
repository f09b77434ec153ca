"""Ops with one value per channel: nn.bias_add, nn.prelu, nn.batch_norm."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType, TupleType
from microgen.relay.op import layout
from microgen.relay.op.base import Field, Kind, RelayOp
from microgen.relay.op.relations import vector

_AXIS = Field("axis", Kind.INT, 1)


def _per_channel(name: str, attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    data = types[0]
    axis = layout.axis_of(attrs["axis"], len(data.shape))
    vector(name, types[1], data.shape[axis], data.dtype)
    return data


def bias_add(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the data, which has a bias for each index along ``axis``."""
    return _per_channel("bias", attrs, types)


def _prelu(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    return _per_channel("alpha", attrs, types)


_STATISTICS = ("gamma", "beta", "moving_mean", "moving_var")


def _batch_norm(attrs: Attrs, types: Sequence[TensorType]) -> TupleType:
    data = types[0]
    length = data.shape[layout.axis_of(attrs["axis"], len(data.shape))]
    for name, found in zip(_STATISTICS, types[1:], strict=True):
        vector(name, found, length, data.dtype)
    moving = TensorType((length,), data.dtype)
    return TupleType((data, moving, moving))


_BATCH_NORM = (
    _AXIS,
    Field("epsilon", Kind.FLOAT, 1e-5),
    Field("center", Kind.BOOL, True),
    Field("scale", Kind.BOOL, True),
)

OPS = (
    RelayOp("nn.bias_add", ("data", "bias"), (_AXIS,), bias_add),
    RelayOp("nn.prelu", ("data", "alpha"), (_AXIS,), _prelu),
    RelayOp("nn.batch_norm", ("data", *_STATISTICS), _BATCH_NORM, _batch_norm),
)
