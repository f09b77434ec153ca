"""Kernels for nn.dense for cores without SIMD instructions."""

from __future__ import annotations

from microgen.kernels.dense.dense import LAYER
from microgen.kernels.requantization import layouts, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import FLOAT, FLOAT_FPU, LINEAR, NEAREST, TWICE, Loop

OP_NAME = "nn.dense"
PRECEDENCE = 3

_INTERLEAVED = weighted.own_header(
    Loop(
        stem="dense_s8",
        suffix="interleaved",
        cores=("mg_interleaved_dot",),
        sums=RAW,
        layout=layouts.INTERLEAVED,
    )
)

IMPLEMENTATIONS = tuple(LAYER.kernels((_INTERLEAVED,), (LINEAR, NEAREST, TWICE, FLOAT_FPU, FLOAT)))
