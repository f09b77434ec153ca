"""Kernels for floor_mod."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.division import floor_division
from microgen.kernels.elementwise import broadcast

OP_NAME = "floor_mod"

IMPLEMENTATIONS = (
    floor_division.failing("mg_floor_mod_s32", DType.INT32),
    broadcast.kernel("mg_floor_mod_f32", DType.FLOAT32, broadcast.shapes),
    *floor_division.of_integers(OP_NAME, but=(DType.INT32,)),
)
