"""Elementwise ops, of one tensor, of two, or with one value per channel."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType, TupleType
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, RelayOp
from microgen.relay.op.relations import vector

_FLOATS = ("exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh")
_ANY = ("nn.relu", "abs", "negative", "copy")


def _not(_attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    if types[0].dtype != "bool":
        raise ValueError(f"data is {types[0]}, expected dtype bool")
    return types[0]


def _clip(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    if not attrs["a_min"] <= attrs["a_max"]:
        raise ValueError(f"a_min is {attrs['a_min']}, but a_max is only {attrs['a_max']}")
    return types[0]


def _cast(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    if not attrs["dtype"]:
        raise ValueError("dtype is empty")
    return TensorType(types[0].shape, attrs["dtype"])


_BOUNDS = (Field("a_min", AttributeKind.FLOAT), Field("a_max", AttributeKind.FLOAT))


_ARITHMETIC = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
_COMPARISON = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_LOGIC = ("logical_and", "logical_or")


def _logic(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    for name, found in zip(("lhs", "rhs"), types, strict=True):
        if found.dtype != "bool":
            raise ValueError(f"{name} is {found}, expected dtype bool")
    return relations.broadcast(attrs, types)


_AXIS = Field("axis", AttributeKind.INT, 1)


# BiasAddRel and PReluRel (src/relay/op/nn/nn.cc).
def _per_channel(name: str, attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    data = types[0]
    axis = relations.axis_of(attrs["axis"], len(data.shape))
    vector(name, types[1], data.shape[axis], data.dtype)
    return data


def bias_add(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the data, which has a bias for each index along ``axis``."""
    return _per_channel("bias", attrs, types)


def _prelu(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    return _per_channel("alpha", attrs, types)


_STATISTICS = ("gamma", "beta", "moving_mean", "moving_var")


# BatchNormRel (TVM v0.14, src/relay/op/nn/nn.cc): also the moving mean and variance are results.
def _batch_norm(attrs: Attrs, types: Sequence[TensorType]) -> TupleType:
    data = types[0]
    length = data.shape[relations.axis_of(attrs["axis"], len(data.shape))]
    for name, found in zip(_STATISTICS, types[1:], strict=True):
        vector(name, found, length, data.dtype)
    moving = TensorType((length,), data.dtype)
    return TupleType((data, moving, moving))


_BATCH_NORM = (
    _AXIS,
    Field("epsilon", AttributeKind.FLOAT, 1e-5),
    Field("center", AttributeKind.BOOL, True),
    Field("scale", AttributeKind.BOOL, True),
)


OPS = (
    *(RelayOp(name, ("data",), (), relations.identity) for name in _ANY),
    *(RelayOp(name, ("data",), (), relations.floating) for name in _FLOATS),
    RelayOp("logical_not", ("data",), (), _not),
    RelayOp("clip", ("a",), _BOUNDS, _clip),
    RelayOp("cast", ("data",), (Field("dtype", AttributeKind.DTYPE),), _cast),
    RelayOp(
        "nn.leaky_relu",
        ("data",),
        (Field("alpha", AttributeKind.FLOAT, 0.25, built=0.01),),
        relations.identity,
    ),
    RelayOp(
        "nn.dropout", ("data",), (Field("rate", AttributeKind.FLOAT, 0.5),), relations.identity
    ),
    *(RelayOp(name, ("lhs", "rhs"), (), relations.broadcast) for name in _ARITHMETIC),
    *(RelayOp(name, ("lhs", "rhs"), (), relations.comparison) for name in _COMPARISON),
    *(RelayOp(name, ("lhs", "rhs"), (), _logic) for name in _LOGIC),
    RelayOp("nn.bias_add", ("data", "bias"), (_AXIS,), bias_add),
    RelayOp("nn.prelu", ("data", "alpha"), (_AXIS,), _prelu),
    RelayOp("nn.batch_norm", ("data", *_STATISTICS), _BATCH_NORM, _batch_norm),
)
