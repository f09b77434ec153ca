"""Kernels for cos."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import cos

OP_NAME = "cos"

IMPLEMENTATIONS = (unary.kernel("cos", DType.FLOAT32, ulps=cos.ULPS),)
