"""Kernels for the logic of bool tensors."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast
from microgen.kernels.unary import unary

BY_OP = {
    "logical_and": (
        broadcast.kernel("mg_logical_and_bool", DType.BOOL, broadcast.shapes, family="logical"),
    ),
    "logical_or": (
        broadcast.kernel("mg_logical_or_bool", DType.BOOL, broadcast.shapes, family="logical"),
    ),
    "logical_not": (
        base.Implementation(
            symbol="mg_logical_not_bool",
            needs=base.REFERENCE,
            refusal=base.only(DType.BOOL),
            params=unary.size,
            in_place=base.as_is,
        ),
    ),
}
