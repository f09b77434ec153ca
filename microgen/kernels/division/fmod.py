"""Kernels for fmod."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.division import floor_division
from microgen.kernels.elementwise import broadcast

OP_NAME = "fmod"

IMPLEMENTATIONS = (
    broadcast.kernel("mg_fmod_f32", DType.FLOAT32, broadcast.shapes),
    *floor_division.of_integers(OP_NAME),
)
