"""Kernels for qnn.add."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.elementwise import affine, broadcast, rescaled

OP_NAME = "qnn.add"

IMPLEMENTATIONS = (
    *affine.KERNELS,
    broadcast.kernel(
        "mg_rescaled_add_s8", DType.INT8, rescaled.sum_params, family="rescaled_arithmetic_s8"
    ),
)
