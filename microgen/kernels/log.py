"""Kernels for log."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import log

OP_NAME = "log"

IMPLEMENTATIONS = (unary.kernel("log", DType.FLOAT32, ulps=log.ULPS),)
