"""Kernels for bitcast: that of copy."""

from __future__ import annotations

from microgen.kernels.moves import copy

OP_NAME = "bitcast"

IMPLEMENTATIONS = copy.IMPLEMENTATIONS
