"""The kernel for atan2."""

from __future__ import annotations

from dataclasses import replace

from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise import angle
from microgen.kernels.elementwise import broadcast

OP_NAME = "atan2"

IMPLEMENTATIONS = (
    replace(broadcast.kernel("mg_atan2_f32", DType.FLOAT32, broadcast.shapes), ulps=angle.ULPS),
)
