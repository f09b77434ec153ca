"""Kernels for min."""

from __future__ import annotations

from microgen.kernels.reductions import reduction

OP_NAME = "min"

IMPLEMENTATIONS = reduction.extreme_kernels(is_minimum=True)
