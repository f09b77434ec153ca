"""Kernels for tanh."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import tanh

OP_NAME = "tanh"


IMPLEMENTATIONS = (
    unary.kernel("tanh", DType.INT16, unary.scaled(tanh.parameters)),
    unary.kernel("tanh", DType.FLOAT32, ulps=tanh.ULPS),
)
