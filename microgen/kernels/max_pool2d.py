"""Kernels for nn.max_pool2d."""

from __future__ import annotations

from microgen.kernels.pool import kernels

OP_NAME = "nn.max_pool2d"

IMPLEMENTATIONS = kernels("mg_max_pool2d")
