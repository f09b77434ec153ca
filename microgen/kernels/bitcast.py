"""Kernels for bitcast: that of copy."""

from __future__ import annotations

from microgen.kernels import copy

OP_NAME = "bitcast"

IMPLEMENTATIONS = copy.IMPLEMENTATIONS
