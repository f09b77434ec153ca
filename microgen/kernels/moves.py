"""What the kernels that only move values have in common."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base


def any_tensor(_node: Node, _graph: Graph) -> str | None:
    """No refusal."""
    return None


def element_bytes(node: Node, graph: Graph) -> base.Fields:
    """The one field that tells dtypes apart."""
    return (("element_bytes", graph.types[node.outputs[0]].dtype.nbytes),)
