"""Kernels for logical_not."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels import base
from microgen.kernels.unary import unary

OP_NAME = "logical_not"


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_logical_not_bool",
        needs=base.REFERENCE,
        refusal=base.only(DType.BOOL),
        params=unary.size,
        in_place=base.as_is,
    ),
)
