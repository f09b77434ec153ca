"""Kernels for sin."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import sin

OP_NAME = "sin"

IMPLEMENTATIONS = (unary.kernel("sin", DType.FLOAT32, ulps=sin.ULPS),)
