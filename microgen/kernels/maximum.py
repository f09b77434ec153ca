"""Kernels for maximum."""

from __future__ import annotations

from microgen.kernels import extremum

OP_NAME = "maximum"

IMPLEMENTATIONS = extremum.kernels(OP_NAME)
