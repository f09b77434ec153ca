"""Kernels for max."""

from __future__ import annotations

from microgen.kernels import reduction

OP_NAME = "max"

KERNELS = reduction.extreme_kernels(is_minimum=False)
