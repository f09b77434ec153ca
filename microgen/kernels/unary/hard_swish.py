"""Kernels for nn.hard_swish."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.unary import unary

OP_NAME = "nn.hard_swish"

IMPLEMENTATIONS = (unary.kernel("hard_swish", DType.FLOAT32),)
