"""Kernels for tanh."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import sigmoid
from microgen.kernels.unary import unary

OP_NAME = "tanh"


IMPLEMENTATIONS = (
    unary.kernel("tanh", DType.INT16, unary.scaled(sigmoid.tanh_parameters)),
    unary.kernel("tanh", DType.FLOAT32, ulps=sigmoid.TANH_ULPS),
)
