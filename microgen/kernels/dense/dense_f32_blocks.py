"""Kernels for nn.dense in float32, for cores with an FPU or with vectors of
floats."""

from __future__ import annotations

from microgen.kernels import float_work, floats
from microgen.kernels.dense import dense

OP_NAME = "nn.dense"
PRECEDENCE = 2


IMPLEMENTATIONS = floats.both(
    *("dense_f32", dense.plain_params, float_work.dense, floats.WIDE_BLOCKS),
    floats.separately(float_work.dense),
)
