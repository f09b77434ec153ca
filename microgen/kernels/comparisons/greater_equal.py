"""Kernels for greater_equal."""

from __future__ import annotations

from microgen.kernels.comparisons import comparison

OP_NAME = "greater_equal"

IMPLEMENTATIONS = comparison.kernels(OP_NAME)
