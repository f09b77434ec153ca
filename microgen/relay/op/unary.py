"""Elementwise ops of one operand."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import relations
from microgen.relay.op.base import Field, Kind, RelayOp

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


_BOUNDS = (Field("a_min", Kind.FLOAT), Field("a_max", Kind.FLOAT))

OPS = (
    *(RelayOp(name, ("data",), (), relations.identity) for name in _ANY),
    *(RelayOp(name, ("data",), (), relations.floating) for name in _FLOATS),
    RelayOp("logical_not", ("data",), (), _not),
    RelayOp("clip", ("a",), _BOUNDS, _clip),
    RelayOp("cast", ("data",), (Field("dtype", Kind.DTYPE),), _cast),
    RelayOp(
        "nn.leaky_relu",
        ("data",),
        (Field("alpha", Kind.FLOAT, 0.25, built=0.01),),
        relations.identity,
    ),
    RelayOp("nn.dropout", ("data",), (Field("rate", Kind.FLOAT, 0.5),), relations.identity),
)
