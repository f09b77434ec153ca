"""Kernels for all."""

from __future__ import annotations

from microgen.kernels import reduction

OP_NAME = "all"

IMPLEMENTATIONS = (reduction.EVERY,)
