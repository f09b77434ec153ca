"""Kernels for logical_and."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels.elementwise import broadcast

OP_NAME = "logical_and"

IMPLEMENTATIONS = (
    broadcast.kernel("mg_logical_and_bool", DType.BOOL, broadcast.shapes, family="logical"),
)
