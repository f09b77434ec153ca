"""Kernels for minimum."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import base, broadcast

OP_NAME = "minimum"

KERNELS = (
    base.Kernel(
        symbol="mg_minimum_s8",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions(DType.INT8),
        params=broadcast.shapes,
        inputs=(0, 1),
        in_place=broadcast.in_place,
    ),
)
