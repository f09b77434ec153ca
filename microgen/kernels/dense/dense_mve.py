"""Kernels for nn.dense that sum raw products with MVE."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels.dense.dense import LAYER
from microgen.kernels.requantization import linear, weighted
from microgen.kernels.requantization.recipe import RAW
from microgen.kernels.requantization.weighted import (
    FLOAT_MVE,
    LINEAR_VECTOR,
    TWICE_NARROW,
    UPWARD_NARROW,
    Loop,
)
from microgen.kernels.work import Work, work

OP_NAME = "nn.dense"
PRECEDENCE = 4


def _refuses_scales(node: Node, graph: Graph) -> str | None:
    if linear.has_one_multiplier(node, graph):
        return None
    return "its weights have a scale for each output channel, the kernel takes one for all"


def _refuses_one(node: Node, graph: Graph) -> str | None:
    if not linear.has_one_multiplier(node, graph):
        return None
    return "its weights have one scale, the kernel takes one for each output channel"


def _work(node: Node, graph: Graph) -> Work:
    """The parts, as if nothing was rounded: here all roundings are equally fast."""
    return {**work(node, graph), "rounded_once": 0, "rounded_twice": 0}


_ROWS = weighted.vectors(
    Loop(
        stem="dense_s8_rows",
        cores=("mg_mve_dense_{}",),
        variant=("MG_SCALE_EACH",),
        sums=RAW,
    )
)
_ONE_SCALE = dataclasses.replace(
    _ROWS, variant=("MG_ONE_SCALE",), refusal=_refuses_scales, work=_work
)
_EACH = dataclasses.replace(
    _ROWS,
    stem="dense_s8_scaled_rows",
    cores=("mg_mve_dense_{}_each",),
    refusal=_refuses_one,
    work=_work,
)
_EXACT = (TWICE_NARROW, UPWARD_NARROW)

IMPLEMENTATIONS = (
    *LAYER.kernels((_ROWS,), (LINEAR_VECTOR,)),
    *LAYER.kernels((_ONE_SCALE, _EACH), _EXACT),
    *LAYER.kernels((dataclasses.replace(_ROWS, work=_work),), (FLOAT_MVE,)),
)
