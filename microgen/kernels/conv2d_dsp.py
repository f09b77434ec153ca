"""Kernels for nn.conv2d with paired weights, for the Arm DSP extension."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, blocks, conv2d, paired
from microgen.kernels.weighted import HIGH, HIGH_CLAMPED, TWICE_NARROW, UPWARD_NARROW, Loop

OP_NAME = conv2d.OP_NAME


def _refusal(node: Node, graph: Graph) -> str | None:
    return blocks.rows(node, graph) or paired.refusal(node, graph)


def _small(node: Node, graph: Graph) -> str | None:
    """Refusal of windows whose columns are too large for the stack."""
    needed = paired.columns(node, graph)
    if needed > paired.STACK:
        return f"its columns need {needed} bytes, the kernel has {paired.STACK} bytes of stack"
    return _refusal(node, graph)


_SCRATCH = Loop(
    stem="conv2d_s8",
    suffix="paired",
    family="conv2d_s8_paired",
    needs=base.DSP,
    refusal=_refusal,
    scratch=paired.columns,
    is_raw=True,
    adapt=paired.adapted,
)
_STACK = Loop(
    stem="conv2d_s8",
    suffix="paired_stack",
    family="conv2d_s8_paired_stack",
    needs=base.DSP,
    refusal=_small,
    is_raw=True,
    adapt=paired.adapted,
)

IMPLEMENTATIONS = (
    *conv2d.LAYER.kernels((_SCRATCH, _STACK), (HIGH, HIGH_CLAMPED, TWICE_NARROW, UPWARD_NARROW)),
)
