"""Shared by the kernels that move or convert values one by one."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import base


def any_tensor(_node: Node, _graph: Graph) -> str | None:
    """None: the kernel refuses nothing."""
    return None


def element_bytes(node: Node, graph: Graph) -> base.Fields:
    """The only field that differs between dtypes."""
    return (("element_bytes", graph.types[node.outputs[0]].dtype.nbytes),)


def of_equal_size(node: Node, graph: Graph) -> base.Lags:
    """The input's buffer may be the output's if elements have the same number of bytes: each is
    read before it is written."""
    (data, *_), output = base.types(node, graph)
    return {0: 0} if data.dtype.nbytes == output.dtype.nbytes else {}
