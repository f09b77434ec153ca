"""Kernels for add."""

from __future__ import annotations

from microgen.kernels import addition

OP_NAME = "add"

KERNELS = addition.kernels(OP_NAME)
