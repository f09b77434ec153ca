"""Kernels for round."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary

OP_NAME = "round"

IMPLEMENTATIONS = (unary.kernel("round", DType.FLOAT32),)
