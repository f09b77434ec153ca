"""Kernels for min."""

from __future__ import annotations

from microgen.kernels import reduction

OP_NAME = "min"

KERNELS = (reduction.extreme_kernel(is_minimum=True),)
