"""Kernels for logical_or."""

from __future__ import annotations

from microgen.ir.graph import DType
from microgen.kernels import broadcast

OP_NAME = "logical_or"

IMPLEMENTATIONS = (
    broadcast.kernel("mg_logical_or_bool", DType.BOOL, broadcast.shapes, family="logical"),
)
