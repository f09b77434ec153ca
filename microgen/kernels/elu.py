"""Kernels for nn.elu."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import unary
from microgen.ops import elu

OP_NAME = "nn.elu"

IMPLEMENTATIONS = (unary.kernel("elu", DType.FLOAT32, ulps=elu.ULPS),)
