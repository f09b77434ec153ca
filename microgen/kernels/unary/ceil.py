"""Kernels for ceil."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.unary import unary

OP_NAME = "ceil"

IMPLEMENTATIONS = (unary.kernel("ceil", DType.FLOAT32),)
