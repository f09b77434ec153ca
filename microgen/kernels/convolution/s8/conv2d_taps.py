"""Kernels for nn.conv2d of several groups, or with dilated columns, with paired weights, for the
Arm DSP extension."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import taps
from microgen.kernels.convolution import conv2d
from microgen.kernels.requantization import paired, weighted
from microgen.kernels.requantization.weighted import (
    HIGH,
    HIGH_FLOATS,
    TWICE_NARROW,
    UPWARD_NARROW,
    Loop,
)
from microgen.kernels.work import Work

OP_NAME = conv2d.OP_NAME
PRECEDENCE = 7
_PAIR = 2  # channels that are computed at a time
_STEP = 4  # values


def _refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of windows with rows, of images of few pixels, and of few channels."""
    if refused := taps.refusal(node, graph):
        return refused
    run, outputs = paired.MERGED.run(node, graph), paired.MERGED.channels(node, graph)
    if run < _STEP:
        return f"filters see {run} channels, the kernel copies {_STEP} at a time"
    if outputs < _PAIR:
        return f"groups have {outputs} output channels, the kernel computes {_PAIR} at a time"
    return paired.refusal(node, graph, _PAIR)


def _scratch(node: Node, graph: Graph) -> int:
    """The values of four pixels, the places of their taps, and the zero points of a tap, in
    bytes."""
    _, height, width, _ = graph.types[node.inputs[1]].shape
    places = taps.PLACES * height * width
    return paired.columns(node, graph) + places + paired.MERGED.run(node, graph)


def _work(node: Node, graph: Graph) -> Work:
    """Also pairs of channels of a block, and their steps."""
    found = taps.work(node, graph, paired.MERGED)
    pairs = found["block_group"] * -(-paired.MERGED.channels(node, graph) // _PAIR)
    steps = paired.steps(node, graph)
    return {
        **found,
        "pair": pairs,
        "pair_step": pairs * steps,
        "uneven_pair": pairs * (steps % 4 != 0),
    }


_LOOP = weighted.dsp(
    Loop(
        stem="conv2d_s8",
        suffix="taps",
        refusal=_refusal,
        scratch=_scratch,
        sums=paired.SUMS,
        layout=paired.layout(_PAIR),
        in_place=taps.in_place,
        cores=("mg_paired_block_{}",),
        core_parts=("block",),
        work=_work,
    )
)

IMPLEMENTATIONS = tuple(
    dataclasses.replace(conv2d.LAYER, params=paired.MERGED.params(conv2d.LAYER.params)).kernels(
        (_LOOP,), (*HIGH, TWICE_NARROW, UPWARD_NARROW, *HIGH_FLOATS)
    )
)
