"""Kernels for layout_transform."""

from __future__ import annotations

from microgen.kernels.moves import transpose

OP_NAME = "layout_transform"
IMPLEMENTATIONS = transpose.IMPLEMENTATIONS
