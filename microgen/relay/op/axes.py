"""Ops along axes: reductions, and ops that keep the shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, RelayOp


def axes(attrs: Attrs, rank: int) -> tuple[int, ...]:
    """The axes that are reduced, in order. No axis means all; ``exclude`` means all others."""
    if attrs["axis"] is None or not attrs["axis"]:
        return tuple(range(rank))
    # A set, because an axis may be named twice, once from the end.
    named = {relations.axis_of(a, rank) for a in attrs["axis"]}
    return tuple(i for i in range(rank) if (i in named) != attrs["exclude"])


# TVM v0.14: ReduceShapeImpl (src/relay/op/tensor/reduce.cc).
def _reduction_shape(attrs: Attrs, shape: tuple[int, ...]) -> tuple[int, ...]:
    reduced = axes(attrs, len(shape))
    if attrs["keepdims"]:
        return tuple(1 if i in reduced else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in reduced)


def _reduced(dtype: str, attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    return TensorType(_reduction_shape(attrs, types[0].shape), dtype or types[0].dtype)


_AXIS = Field("axis", AttributeKind.INTS, None)
_KEEPDIMS = Field("keepdims", AttributeKind.BOOL, False)
_EXCLUDE = Field("exclude", AttributeKind.BOOL, False)
_ARG = (_AXIS, _KEEPDIMS, Field("select_last_index", AttributeKind.BOOL, False), _EXCLUDE)
_PYTHON_ORDER = ("data", "axis", "keepdims", "exclude", "select_last_index")


def _softmax(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    relations.floating(attrs, types)
    relations.axis_of(attrs["axis"], len(types[0].shape))
    return types[0]


def _l2_normalize(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    for axis in attrs["axis"] or ():
        relations.axis_of(axis, len(types[0].shape))
    return relations.floating(attrs, types)


AXIS = Field("axis", AttributeKind.INT, -1)
_L2 = (
    Field("eps", AttributeKind.FLOAT),
    Field("axis", AttributeKind.INTS, built=None, nullable=True),
)


OPS = (
    *(
        RelayOp(name, ("data",), (_AXIS, _KEEPDIMS, _EXCLUDE), partial(_reduced, ""))
        for name in ("sum", "mean", "max", "min")
    ),
    *(
        RelayOp(name, ("data",), _ARG, partial(_reduced, "int32"), positional=_PYTHON_ORDER)
        for name in ("argmax", "argmin")
    ),
    RelayOp("nn.softmax", ("data",), (AXIS,), _softmax),
    RelayOp("nn.log_softmax", ("data",), (AXIS,), _softmax),
    RelayOp("nn.l2_normalize", ("data",), _L2, _l2_normalize),
)
