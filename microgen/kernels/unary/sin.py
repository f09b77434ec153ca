"""Kernels for sin."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import functions
from microgen.kernels.unary import unary

OP_NAME = "sin"

IMPLEMENTATIONS = (unary.kernel("sin", DType.FLOAT32, ulps=functions.WAVE_ULPS),)
