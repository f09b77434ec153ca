"""Kernels for exp."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary

OP_NAME = "exp"

KERNELS = (unary.kernel("exp", DType.FLOAT32, ulps=1),)
