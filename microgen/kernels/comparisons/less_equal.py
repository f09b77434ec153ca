"""Kernels for less_equal."""

from __future__ import annotations

from microgen.kernels.comparisons import comparison

OP_NAME = "less_equal"

IMPLEMENTATIONS = comparison.kernels(OP_NAME)
