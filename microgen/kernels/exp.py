"""Kernels for exp."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import exp

OP_NAME = "exp"

IMPLEMENTATIONS = (unary.kernel("exp", DType.FLOAT32, ulps=exp.ULPS),)
