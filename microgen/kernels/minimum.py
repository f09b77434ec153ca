"""Kernels for minimum."""

from __future__ import annotations

from microgen.kernels import extremum

OP_NAME = "minimum"

KERNELS = extremum.kernels(OP_NAME)
