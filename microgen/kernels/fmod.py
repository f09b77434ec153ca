"""Kernels for fmod."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import broadcast, floor_division

OP_NAME = "fmod"

IMPLEMENTATIONS = (
    broadcast.kernel("mg_fmod_f32", DType.FLOAT32, broadcast.shapes),
    *floor_division.of_integers(OP_NAME),
)
