"""Kernels for nn.dense in int16, for MVE and the DSP extension."""

from __future__ import annotations

import dataclasses

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, dense, wide

OP_NAME = "nn.dense"

_PLAIN = next(kernel for kernel in dense.IMPLEMENTATIONS if kernel.symbol == "mg_dense_s16")


def _refusal(node: Node, graph: Graph) -> str | None:
    return _PLAIN.refusal(node, graph) or wide.products(node, graph, 0)


def _refuses_odd_depth(node: Node, graph: Graph) -> str | None:
    refusal = _refusal(node, graph)
    depth = graph.types[node.inputs[1]].shape[1]
    if refusal is None and depth % wide.FOUR:
        return f"there are {depth} input features, the kernel takes multiples of {wide.FOUR}"
    return refusal


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    return (wide.pairs(node), *_PLAIN.constants(node, graph)[1:])


IMPLEMENTATIONS = (
    dataclasses.replace(_PLAIN, symbol="mg_dense_s16_mve", needs=base.MVE, refusal=_refusal),
    dataclasses.replace(
        _PLAIN,
        symbol="mg_dense_s16_dsp",
        needs=base.DSP,
        refusal=_refuses_odd_depth,
        constants=_constants,
    ),
)
