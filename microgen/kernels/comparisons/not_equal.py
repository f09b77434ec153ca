"""Kernels for not_equal."""

from __future__ import annotations

from microgen.kernels.comparisons import comparison

OP_NAME = "not_equal"

IMPLEMENTATIONS = comparison.kernels(OP_NAME, is_equality=True)
