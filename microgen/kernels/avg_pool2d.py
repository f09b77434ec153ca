"""Kernels for nn.avg_pool2d."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels.pool import kernel, kernels

OP_NAME = "nn.avg_pool2d"

KERNELS = (*kernels("mg_avg_pool2d"), kernel("mg_avg_pool2d_s32", DType.INT32))
