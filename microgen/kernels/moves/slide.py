"""Kernels for slide."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "slide"


def _params(node: Node, graph: Graph) -> base.Fields:
    """Bytes of the rows that remain and of the new ones."""
    window, rows = graph.type_of(node.inputs)
    return (("kept_size", window.nbytes - rows.nbytes), ("new_size", rows.nbytes))


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_slide",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
        inputs=(0, 1),
        in_place=base.as_is,
    ),
)
