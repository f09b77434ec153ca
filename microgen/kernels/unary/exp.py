"""Kernels for exp."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import functions
from microgen.kernels.unary import unary

OP_NAME = "exp"

IMPLEMENTATIONS = (unary.kernel("exp", DType.FLOAT32, ulps=functions.EXP_ULPS),)
