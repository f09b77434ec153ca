"""Kernels for nn.dense with paired weights, for the Arm DSP extension."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.dense import dense
from microgen.kernels.requantization import paired, weighted
from microgen.kernels.requantization.weighted import (
    FLOATS,
    HIGH_WIDE,
    TWICE_NARROW,
    UPWARD_NARROW,
    Loop,
    on_stack,
)
from microgen.kernels.work import Work, common

OP_NAME = dense.OP_NAME
PRECEDENCE = 1
_GROUP = 8  # channels that are computed at a time


def _refusal(node: Node, graph: Graph) -> str | None:
    return paired.refusal(node, graph, _GROUP)


def _refuses_weights(node: Node, graph: Graph) -> str | None:
    # With these requantizations, sums are made of parts that always fit int32.
    return paired.refuses_weights(node, graph, _GROUP)


def _direct_refusal(node: Node, graph: Graph) -> str | None:
    depth = graph.types[node.inputs[1]].shape[1]
    if depth % 4:
        return f"there are {depth} input features, the kernel reads four at a time"
    return _refusal(node, graph)


def _work(node: Node, graph: Graph) -> Work:
    """Parts of these loops: rows of data and their words; groups of channels and their steps."""
    (_, weight, *_), output = base.types(node, graph)
    channels, depth = weight.shape
    rows, steps = output.size // channels, paired.steps(node, graph)
    groups = rows * -(-channels // _GROUP)
    return {
        **common(node, graph),
        "pixel": rows,
        "row_word": rows * (depth // 4),
        "row_left": rows * (depth % 4),
        "group": groups,
        "group_step": groups * steps,
        "uneven_group": groups * (steps % 4 != 0),
    }


_SCRATCH = weighted.dsp(
    Loop(
        stem="dense_s8",
        suffix="paired",
        refusal=_refusal,
        scratch=paired.values,
        cores=("mg_paired_dense_{}",),
        sums=paired.SUMS,
        layout=paired.layout(_GROUP),
        work=_work,
    )
)


def _on_stack(loop: Loop) -> Loop:
    stacked = on_stack(loop, paired.STACK, "data")
    return dataclasses.replace(stacked, suffix="paired_stack", family="dense_s8_paired_stack")


_EXACT = dataclasses.replace(_SCRATCH, refusal=_refuses_weights)
# For layers without memory for a row of data: values are widened again for each group of channels.
_DIRECT = dataclasses.replace(
    _SCRATCH,
    suffix="paired_direct",
    family="dense_s8_paired_direct",
    refusal=_direct_refusal,
    scratch=base.no_scratch,
    cores=("mg_direct_dense_{}",),
)

IMPLEMENTATIONS = (
    *dense.LAYER.kernels((_on_stack(_SCRATCH), _SCRATCH), HIGH_WIDE),
    *dense.LAYER.kernels((_on_stack(_EXACT), _EXACT), (TWICE_NARROW, UPWARD_NARROW, *FLOATS)),
    *dense.LAYER.kernels((_DIRECT,), HIGH_WIDE),
)
