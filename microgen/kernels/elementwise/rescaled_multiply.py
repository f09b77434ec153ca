"""Kernels for qnn.mul."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.elementwise import broadcast, rescaled, scaled_product

OP_NAME = "qnn.mul"

IMPLEMENTATIONS = (
    scaled_product.KERNEL,
    broadcast.kernel(
        "mg_rescaled_multiply_s8",
        DType.INT8,
        rescaled.product_params,
        family="rescaled_arithmetic_s8",
    ),
)
