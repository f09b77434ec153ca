"""Kernels for nn.max_pool2d."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base, lags
from microgen.kernels.pooling import pool
from microgen.kernels.work import Work, work
from microgen.target.cpu import Feature

OP_NAME = "nn.max_pool2d"


def _work(node: Node, graph: Graph) -> Work:
    """The usual parts, and those of loops over blocks of sixteen channels, begun ones included."""
    found = work(node, graph)
    channels = graph.types[node.outputs[0]].shape[3]
    return {
        **found,
        "block_16": found["pixel"] * -(-channels // 16),
        "tap_16": found["pixel_tap"] * -(-channels // 16),
    }


def _blocks(suffix: str, needs: frozenset[Feature], in_place: base.InPlace) -> base.Implementation:
    """A kernel of ``max_pool2d_s8_blocks.h``."""
    made = pool.kernel(f"mg_max_pool2d_s8_{suffix}", DType.INT8)
    family = "max_pool2d_s8_blocks"
    return dataclasses.replace(made, needs=needs, family=family, work=_work, in_place=in_place)


IMPLEMENTATIONS = (
    _blocks("mve", base.MVE, lags.of_depthwise_sixteens),
    _blocks("dsp", base.DSP, lags.of_depthwise_fours),
    _blocks("portable", base.REFERENCE, lags.of_depthwise_fours),
    *pool.kernels("mg_max_pool2d"),
)
