"""Kernels for equal."""

from __future__ import annotations

from microgen.kernels.comparisons import comparison

OP_NAME = "equal"

IMPLEMENTATIONS = comparison.kernels(OP_NAME, is_equality=True)
