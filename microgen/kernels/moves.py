"""What the kernels that move or convert values one by one have in common."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base


def any_tensor(_node: Node, _graph: Graph) -> str | None:
    """No refusal."""
    return None


def element_bytes(node: Node, graph: Graph) -> base.Fields:
    """The one field that tells dtypes apart."""
    return (("element_bytes", graph.types[node.outputs[0]].dtype.nbytes),)


def of_equal_size(node: Node, graph: Graph) -> tuple[int, ...]:
    """The input's buffer may be the output's where elements have as many bytes: each is read
    before it is written."""
    (data, *_), output = base.types(node, graph)
    return (0,) if data.dtype.nbytes == output.dtype.nbytes else ()
