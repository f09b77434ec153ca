"""Kernels for negative."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary

OP_NAME = "negative"

IMPLEMENTATIONS = (
    unary.kernel("negative", DType.INT16),
    unary.kernel("negative", DType.FLOAT32),
)
