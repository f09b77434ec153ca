"""Kernels for log."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import functions
from microgen.kernels.unary import unary

OP_NAME = "log"

IMPLEMENTATIONS = (unary.kernel("log", DType.FLOAT32, ulps=functions.LOG_ULPS),)
