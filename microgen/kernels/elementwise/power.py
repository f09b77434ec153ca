"""Kernels for power."""

from __future__ import annotations

from dataclasses import replace

from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise import product
from microgen.kernels.elementwise import broadcast

OP_NAME = "power"

_floats = broadcast.kernel("mg_power_f32", DType.FLOAT32, broadcast.shapes, family=OP_NAME)

IMPLEMENTATIONS = (
    broadcast.kernel("mg_power_s32", DType.INT32, broadcast.shapes, family=OP_NAME),
    broadcast.kernel("mg_power_s64", DType.INT64, broadcast.shapes, family=OP_NAME),
    replace(_floats, ulps=product.POWER_ULPS),
)
