"""Kernels for nn.elu."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.graph.ops.unary import activations
from microgen.kernels.unary import unary

OP_NAME = "nn.elu"

IMPLEMENTATIONS = (unary.kernel("elu", DType.FLOAT32, ulps=activations.ELU_ULPS),)
