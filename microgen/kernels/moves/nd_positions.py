"""Kernels for nd_positions."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.indexed import NdPositionsAttrs
from microgen.kernels import base

OP_NAME = "nd_positions"

_AXES = 8


def _shape(node: Node) -> tuple[int, ...]:
    assert isinstance(node.attrs, NdPositionsAttrs)
    return node.attrs.shape


def _params(node: Node, graph: Graph) -> base.Fields:
    (indices,), output = base.types(node, graph)
    shape = _shape(node)
    return (
        ("count", output.size),
        ("depth", len(shape)),
        ("shape", (*shape, *(1,) * (_AXES - len(shape)))),
        ("index_bytes", indices.dtype.nbytes),
    )


def _refusal(node: Node, _graph: Graph) -> str | None:
    depth = len(_shape(node))
    return None if depth <= _AXES else f"{depth} axes have indices, the kernel takes {_AXES}"


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_nd_positions",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        in_place=base.as_is,
        can_fail=True,
    ),
)
