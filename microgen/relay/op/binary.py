"""Elementwise ops of two operands: arithmetic, comparison, logic."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.relay.expr import Attrs, TensorType
from microgen.relay.op import relations
from microgen.relay.op.base import RelayOp

_ARITHMETIC = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
_COMPARISON = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_LOGIC = ("logical_and", "logical_or")


def _logic(attrs: Attrs, types: Sequence[TensorType]) -> TensorType:
    for name, found in zip(("lhs", "rhs"), types, strict=True):
        if found.dtype != "bool":
            raise ValueError(f"{name} is {found}, expected dtype bool")
    return relations.broadcast(attrs, types)


OPS = (
    *(RelayOp(name, ("lhs", "rhs"), (), relations.broadcast) for name in _ARITHMETIC),
    *(RelayOp(name, ("lhs", "rhs"), (), relations.comparison) for name in _COMPARISON),
    *(RelayOp(name, ("lhs", "rhs"), (), _logic) for name in _LOGIC),
)
