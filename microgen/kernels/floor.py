"""Kernels for floor."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary

OP_NAME = "floor"

IMPLEMENTATIONS = (unary.kernel("floor", DType.FLOAT32),)
