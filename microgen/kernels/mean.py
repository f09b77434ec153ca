"""Kernels for mean."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, reduction
from microgen.ops.mean import MeanAttrs
from microgen.ops.reduction import count, mean_parameters

OP_NAME = "mean"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, MeanAttrs)
    (data,), output = base.types(node, graph)
    scale = mean_parameters(data, output, count(attrs, data))
    return reduction.sum_fields(node, graph, scale)


KERNELS = (base.Kernel("mg_reduce_sum_s8", base.REFERENCE, reduction.refusal, _params),)
