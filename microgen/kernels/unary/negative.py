"""Kernels for negative."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.unary import unary

OP_NAME = "negative"

IMPLEMENTATIONS = (
    unary.kernel("negative", DType.INT16),
    unary.kernel("negative", DType.FLOAT32),
)
