"""Kernels for logical_or."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.elementwise import broadcast

OP_NAME = "logical_or"

IMPLEMENTATIONS = (
    broadcast.kernel("mg_logical_or_bool", DType.BOOL, broadcast.shapes, family="logical"),
)
