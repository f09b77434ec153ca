"""Kernels for round."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.unary import unary

OP_NAME = "round"

IMPLEMENTATIONS = (unary.kernel("round", DType.FLOAT32),)
