"""Kernels for sum."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, reduction
from microgen.ops.reduction import sum_parameters
from microgen.ops.sum import SumAttrs

OP_NAME = "sum"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, SumAttrs)
    (data,), output = base.types(node, graph)
    scale = sum_parameters(data, output)
    return reduction.sum_fields(node, graph, scale, is_unsigned=attrs.is_unsigned)


KERNELS = (base.Kernel("mg_reduce_sum_s8", base.REFERENCE, reduction.refusal, _params),)
