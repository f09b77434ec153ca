"""Kernels for greater."""

from __future__ import annotations

from microgen.kernels.comparisons import comparison

OP_NAME = "greater"

IMPLEMENTATIONS = comparison.kernels(OP_NAME)
