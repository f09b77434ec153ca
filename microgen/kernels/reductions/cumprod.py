"""Kernels for cumprod."""

from __future__ import annotations

from microgen.kernels.reductions import running

OP_NAME = "cumprod"

IMPLEMENTATIONS = running.kernels("cumprod")
