"""Kernels for max."""

from __future__ import annotations

from microgen.kernels import reduction

OP_NAME = "max"

KERNELS = (reduction.extreme_kernel(is_minimum=False),)
