"""Kernels for nn.dense that sum raw products with MVE."""

from __future__ import annotations

from microgen.kernels import weighted
from microgen.kernels.dense import LAYER
from microgen.kernels.weighted import LINEAR_VECTOR, Loop

OP_NAME = "nn.dense"

_ROWS = weighted.vectors(Loop(stem="dense_s8_rows", cores=("mg_mve_dense_row",), is_raw=True))

IMPLEMENTATIONS = tuple(LAYER.kernels((_ROWS,), (LINEAR_VECTOR,)))
