"""Kernels for add."""

from __future__ import annotations

from microgen.kernels.elementwise import addition

OP_NAME = "add"

IMPLEMENTATIONS = addition.kernels(OP_NAME)
