"""Kernels for cos."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import functions
from microgen.kernels.unary import unary

OP_NAME = "cos"

IMPLEMENTATIONS = (unary.kernel("cos", DType.FLOAT32, ulps=functions.WAVE_ULPS),)
