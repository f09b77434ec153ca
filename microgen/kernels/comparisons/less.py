"""Kernels for less."""

from __future__ import annotations

from microgen.kernels.comparisons import comparison

OP_NAME = "less"

IMPLEMENTATIONS = comparison.kernels(OP_NAME)
