"""Kernels for sigmoid."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import sigmoid
from microgen.kernels.unary import unary

OP_NAME = "sigmoid"


IMPLEMENTATIONS = (
    unary.kernel("sigmoid", DType.INT16, unary.scaled(sigmoid.sigmoid_parameters)),
    unary.kernel("sigmoid", DType.FLOAT32, ulps=sigmoid.SIGMOID_ULPS),
)
