"""Kernels for sigmoid."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import sigmoid

OP_NAME = "sigmoid"


IMPLEMENTATIONS = (
    unary.kernel("sigmoid", DType.INT16, unary.scaled(sigmoid.parameters)),
    unary.kernel("sigmoid", DType.FLOAT32, ulps=sigmoid.ULPS),
)
