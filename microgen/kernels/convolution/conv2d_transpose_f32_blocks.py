"""Kernels for nn.conv2d_transpose in float32, for cores with an FPU or with vectors of floats."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels import base, float_work, floats, window

OP_NAME = "nn.conv2d_transpose"
PRECEDENCE = 1


IMPLEMENTATIONS = (
    floats.vectors(
        "conv2d_transpose_f32",
        base.only(DType.FLOAT32),
        window.shaped_fields,
        float_work.transposed,
        floats.BLOCKS,
    ),
    *floats.kernels(
        "conv2d_transpose_f32", floats.refuses, window.shaped_fields, float_work.transposed
    ),
)
