"""Kernels for cumsum."""

from __future__ import annotations

from microgen.kernels.reductions import running

OP_NAME = "cumsum"

IMPLEMENTATIONS = running.kernels("cumsum")
