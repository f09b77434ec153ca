"""Kernels for max."""

from __future__ import annotations

from microgen.kernels.reductions import reduction

OP_NAME = "max"

IMPLEMENTATIONS = reduction.extreme_kernels(is_minimum=False)
