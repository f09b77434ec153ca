"""Kernels for floor_divide."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.division import floor_division

OP_NAME = "floor_divide"

IMPLEMENTATIONS = (
    floor_division.failing("mg_floor_divide_s32", DType.INT32),
    floor_division.failing("mg_floor_divide_f32", DType.FLOAT32),
)
