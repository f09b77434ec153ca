"""Kernels for nn.dense that sum raw products with MVE."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels.dense.dense import LAYER
from microgen.kernels.requantization import linear, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import LINEAR_VECTOR, TWICE_NARROW, Loop

OP_NAME = "nn.dense"
PRECEDENCE = 4


def _refuses_scales(node: Node, graph: Graph) -> str | None:
    if linear.has_one_multiplier(node, graph):
        return None
    return "its weights have a scale for each output channel, the kernel takes one for all"


_ROWS = weighted.vectors(Loop(stem="dense_s8_rows", cores=("mg_mve_dense_{}",), sums=RAW))
_ONE_SCALE = dataclasses.replace(_ROWS, refusal=_refuses_scales)

IMPLEMENTATIONS = (
    *LAYER.kernels((_ROWS,), (LINEAR_VECTOR,)),
    *LAYER.kernels((_ONE_SCALE,), (TWICE_NARROW,)),
)
