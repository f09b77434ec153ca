"""Ops along axes that keep the shape: nn.softmax, nn.log_softmax, nn.l2_normalize."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import layout, relations
from microgen.relay.op.base import Field, Kind, RelayOp


def softmax(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of types[0], which must have the axis."""
    layout.axis_of(attrs["axis"], len(types[0].shape))
    return types[0]


def _floating(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    relations.floating(attrs, types)
    return softmax(attrs, types)


def _l2_normalize(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    for axis in attrs["axis"] or ():
        layout.axis_of(axis, len(types[0].shape))
    return relations.floating(attrs, types)


AXIS = Field("axis", Kind.INT, -1)
_L2 = (Field("eps", Kind.FLOAT), Field("axis", Kind.INTS, built=None, nullable=True))

OPS = (
    RelayOp("nn.softmax", ("data",), (AXIS,), _floating),
    RelayOp("nn.log_softmax", ("data",), (AXIS,), _floating),
    RelayOp("nn.l2_normalize", ("data",), _L2, _l2_normalize),
)
