"""Kernels for minimum."""

from __future__ import annotations

from microgen.kernels.elementwise import extremum

OP_NAME = "minimum"

IMPLEMENTATIONS = extremum.kernels(OP_NAME)
