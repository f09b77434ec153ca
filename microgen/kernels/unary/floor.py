"""Kernels for floor."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.unary import unary

OP_NAME = "floor"

IMPLEMENTATIONS = (unary.kernel("floor", DType.FLOAT32),)
