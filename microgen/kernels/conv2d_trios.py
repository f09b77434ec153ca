"""Kernels for nn.conv2d that compute three pixels with two multiplications a weight, for cores
without SIMD instructions.

A kind of transform: ``interleave_4``. Its source is a weight of int8, whose first axis is that of
output channels, and it has no arguments. It makes int8 [weights]: for each four channels, the
weights of all taps, [taps][4]; then those of the channels that are left, [taps] each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.ir.graph import Array, Graph, Node
from microgen.kernels import base, blocks, transforms
from microgen.kernels.conv2d import LAYER
from microgen.kernels.weighted import LINEAR, TWICE_NARROW, UPWARD_NARROW, Loop

OP_NAME = "nn.conv2d"
_TRIO = 8  # bytes of an mg_trio


def _scratch(node: Node, graph: Graph) -> int:
    """A trio for each weight of a filter."""
    weight = graph.types[node.inputs[1]]
    return _TRIO * (weight.size // weight.shape[0])


def _layout(weight: base.KernelConstant, _node: Node, _graph: Graph) -> base.KernelConstant:
    return dataclasses.replace(weight, transform="interleave_4")


def _interleave_4(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    if arguments:
        raise TypeError("interleave_4 takes no arguments")
    rows = weight.reshape(len(weight), -1)
    whole = len(rows) - len(rows) % 4
    blocks_of_4 = rows[:whole].reshape(-1, 4, rows.shape[1]).transpose(0, 2, 1)
    return np.concatenate([blocks_of_4.ravel(), rows[whole:].ravel()])


TRANSFORMS: Mapping[str, transforms.Function] = {"interleave_4": _interleave_4}

_TRIOS = Loop(
    stem="conv2d_s8",
    suffix="trios",
    family="conv2d_s8_trios",
    refusal=blocks.rows,
    scratch=_scratch,
    is_raw=True,
    layout=_layout,
)

IMPLEMENTATIONS = tuple(LAYER.kernels((_TRIOS,), (LINEAR, TWICE_NARROW, UPWARD_NARROW)))
