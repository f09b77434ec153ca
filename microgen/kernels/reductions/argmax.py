"""Kernels for argmax."""

from __future__ import annotations

from microgen.kernels.reductions import arg_extreme

OP_NAME = "argmax"

IMPLEMENTATIONS = arg_extreme.kernels(is_minimum=False)
