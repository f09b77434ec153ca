"""Kernels for subtract."""

from __future__ import annotations

from microgen.kernels.elementwise import addition

OP_NAME = "subtract"

IMPLEMENTATIONS = addition.kernels(OP_NAME)
