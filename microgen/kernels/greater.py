"""Kernels for greater."""

from __future__ import annotations

from microgen.kernels import comparison

OP_NAME = "greater"

KERNELS = comparison.kernels(OP_NAME)
