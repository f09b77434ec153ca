"""Kernels for all."""

from __future__ import annotations

from microgen.kernels.reductions import reduction

OP_NAME = "all"

IMPLEMENTATIONS = (reduction.EVERY,)
