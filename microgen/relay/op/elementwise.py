"""Elementwise ops, of one tensor, of two, or with one value per channel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from microgen.relay.expr import Attrs, TensorType, TupleType, Type
from microgen.relay.op import relations
from microgen.relay.op.base import AttributeKind, Field, Relation, RelayOp
from microgen.relay.op.relations import vector

_FLOATS = ("exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh")
_ANY = ("nn.relu", "abs", "negative", "copy")


def _clip(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    # The condition also refuses NaN, because every comparison with NaN is false.
    if not attrs["a_min"] <= attrs["a_max"]:
        raise ValueError(f"a_min is {attrs['a_min']}, but a_max is only {attrs['a_max']}")
    return types[0]


def _cast(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    if not attrs["dtype"]:
        raise ValueError("dtype is empty")
    return TensorType(types[0].shape, attrs["dtype"])


_ALPHA = Field("alpha", AttributeKind.FLOAT, 0.25, built=0.01)
_RATE = Field("rate", AttributeKind.FLOAT, 0.5)
_BOUNDS = (Field("a_min", AttributeKind.FLOAT), Field("a_max", AttributeKind.FLOAT))


_ARITHMETIC = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
_COMPARISON = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_LOGIC = ("logical_and", "logical_or")
_ONE, _TWO = ("data",), ("lhs", "rhs")


def _logic(
    names: Sequence[str], of_bools: Relation, attrs: Attrs, types: Sequence[TensorType]
) -> Type:
    """The result of a relation whose operands must be truth values."""
    for name, type_ in zip(names, types, strict=True):
        relations.one_of(name, type_, ("bool",))
    return of_bools(attrs, types)


_AXIS = Field("axis", AttributeKind.INT, 1)


# BiasAddRel and PReluRel (src/relay/op/nn/nn.cc).
def _per_channel(name: str, attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    """The type of the data. Its second operand has a value for each index along ``axis``."""
    data = types[0]
    axis = relations.axis_of(attrs["axis"], len(data.shape))
    vector(name, types[1], data.shape[axis], data.dtype)
    return data


_STATISTICS = ("gamma", "beta", "moving_mean", "moving_var")


# BatchNormRel (TVM v0.14, src/relay/op/nn/nn.cc): also the moving mean and variance are results.
def _batch_norm(attrs: Attrs, types: Sequence[TensorType]) -> TupleType:
    data = types[0]
    length = data.shape[relations.axis_of(attrs["axis"], len(data.shape))]
    for name, type_ in zip(_STATISTICS, types[1:], strict=True):
        vector(name, type_, length, data.dtype)
    moving = TensorType((length,), data.dtype)
    return TupleType((data, moving, moving))


_BATCH_NORM = (
    _AXIS,
    Field("epsilon", AttributeKind.FLOAT, 1e-5),
    Field("center", AttributeKind.BOOL, True),
    Field("scale", AttributeKind.BOOL, True),
)


OPS = (
    *(RelayOp(name, _ONE, (), relations.identity) for name in _ANY),
    *(RelayOp(name, _ONE, (), relations.floating) for name in _FLOATS),
    RelayOp("logical_not", _ONE, (), partial(_logic, _ONE, relations.identity)),
    RelayOp("clip", ("a",), _BOUNDS, _clip),
    RelayOp("cast", ("data",), (Field("dtype", AttributeKind.DTYPE),), _cast),
    RelayOp("nn.leaky_relu", _ONE, (_ALPHA,), relations.identity),
    RelayOp("nn.dropout", _ONE, (_RATE,), relations.identity),
    *(RelayOp(name, _TWO, (), relations.broadcast) for name in _ARITHMETIC),
    *(RelayOp(name, _TWO, (), relations.comparison) for name in _COMPARISON),
    *(RelayOp(name, _TWO, (), partial(_logic, _TWO, relations.broadcast)) for name in _LOGIC),
    RelayOp("nn.bias_add", ("data", "bias"), (_AXIS,), partial(_per_channel, "bias")),
    RelayOp("nn.prelu", ("data", "alpha"), (_AXIS,), partial(_per_channel, "alpha")),
    RelayOp("nn.batch_norm", ("data", *_STATISTICS), _BATCH_NORM, _batch_norm),
)
