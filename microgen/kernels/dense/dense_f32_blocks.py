"""Kernels for nn.dense in float32, for cores with an FPU or with vectors of
floats."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from microgen.kernels import base, float_work, floats
from microgen.kernels.dense import dense

OP_NAME = "nn.dense"
PRECEDENCE = 2


IMPLEMENTATIONS = (
    floats.vectors(
        "dense_f32",
        base.only(DType.FLOAT32),
        dense.plain_params,
        float_work.dense,
        floats.WIDE_BLOCKS,
    ),
    *floats.kernels("dense_f32", floats.refuses, dense.plain_params, float_work.dense),
)
