"""Kernels for maximum."""

from __future__ import annotations

from microgen.kernels.elementwise import extremum

OP_NAME = "maximum"

IMPLEMENTATIONS = extremum.kernels(OP_NAME)
