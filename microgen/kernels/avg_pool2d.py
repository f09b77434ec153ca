"""Kernels for nn.avg_pool2d."""

from __future__ import annotations

from microgen.kernels.pool import kernels

OP_NAME = "nn.avg_pool2d"

KERNELS = kernels("mg_avg_pool2d")
