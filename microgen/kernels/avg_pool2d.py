"""Kernels for nn.avg_pool2d."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import base
from microgen.kernels.pool import params

OP_NAME = "nn.avg_pool2d"

KERNELS = (
    base.Kernel(
        symbol="mg_avg_pool2d_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=params,
    ),
)
