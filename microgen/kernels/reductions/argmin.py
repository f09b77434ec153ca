"""Kernels for argmin."""

from __future__ import annotations

from microgen.kernels.reductions import arg_extreme

OP_NAME = "argmin"

IMPLEMENTATIONS = arg_extreme.kernels(is_minimum=True)
