"""Kernels for nn.conv2d_transpose in float32, for cores with an FPU or with vectors of floats."""

from __future__ import annotations

from microgen.kernels import float_work, floats, window

OP_NAME = "nn.conv2d_transpose"
PRECEDENCE = 1


IMPLEMENTATIONS = floats.both(
    "conv2d_transpose_f32", window.shaped_fields, float_work.transposed, floats.BLOCKS
)
