"""Kernels for dynamic_update_slice."""

from __future__ import annotations

from math import prod

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "dynamic_update_slice"

_AXES = 4


def _outer_axes(node: Node, graph: Graph) -> int:
    """The number of axes up to the last one along which the update is shorter than the data, at
    least 1. The others are copied as a whole."""
    data, update, _ = graph.type_of(node.inputs)
    pairs = zip(data.shape, update.shape, strict=True)
    return max([1, *(axis + 1 for axis, (size, own) in enumerate(pairs) if own < size)])


def _params(node: Node, graph: Graph) -> base.Fields:
    data, update, _ = graph.type_of(node.inputs)
    outer = _outer_axes(node, graph)
    padding = (1,) * (_AXES - outer)
    return (
        ("axes", outer),
        ("shape", (*padding, *data.shape[:outer])),
        ("update", (*padding, *update.shape[:outer])),
        ("inner_bytes", prod(data.shape[outer:]) * data.dtype.nbytes),
        *moves.element_bytes(node, graph),
    )


def _refusal(node: Node, graph: Graph) -> str | None:
    outer = _outer_axes(node, graph)
    if outer <= _AXES:
        return None
    return f"its update lies along {outer} axes, the kernel takes at most {_AXES}"


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_dynamic_update_slice",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        inputs=(0, 1, 2),
        in_place=base.as_is,
    ),
)
