"""Kernels for rsqrt."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import rsqrt

OP_NAME = "rsqrt"

IMPLEMENTATIONS = (unary.kernel("rsqrt", DType.FLOAT32, ulps=rsqrt.ULPS),)
