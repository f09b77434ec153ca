"""Kernels for rsqrt."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import roots
from microgen.kernels.unary import unary

OP_NAME = "rsqrt"

IMPLEMENTATIONS = (unary.kernel("rsqrt", DType.FLOAT32, ulps=roots.RSQRT_ULPS),)
