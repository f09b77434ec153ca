"""Kernels for gather_nd."""

from __future__ import annotations

from math import prod

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "gather_nd"

_AXES = 8


def _params(node: Node, graph: Graph) -> base.Fields:
    data, indices = graph.type_of(node.inputs)
    depth = indices.shape[-1]
    return (
        ("count", prod(indices.shape[:-1])),
        ("depth", depth),
        ("shape", (*data.shape[:depth], *(1,) * (_AXES - depth))),
        ("inner_bytes", prod(data.shape[depth:]) * data.dtype.nbytes),
        *moves.element_bytes(node, graph),
    )


def _refusal(node: Node, graph: Graph) -> str | None:
    depth = graph.types[node.inputs[1]].shape[-1]
    return None if depth <= _AXES else f"{depth} axes have indices, the kernel takes {_AXES}"


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_gather_nd",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        inputs=(0, 1),
        can_fail=True,
    ),
)
