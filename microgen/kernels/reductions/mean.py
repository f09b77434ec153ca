"""Kernels for mean."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.reductions.reduction import (
    MeanAttrs,
    SumParameters,
    count,
    mean_parameters,
)
from microgen.kernels import base
from microgen.kernels.elementwise import in_float32
from microgen.kernels.pooling import mean_rows, window_mean
from microgen.kernels.reductions import reduction

OP_NAME = "mean"


def _count(node: Node, graph: Graph) -> int:
    return count(base.attrs_of(node, MeanAttrs), graph.types[node.inputs[0]])


def _scale(node: Node, graph: Graph) -> SumParameters:
    (data,), output = base.types(node, graph)
    return mean_parameters(data, output, _count(node, graph))


IMPLEMENTATIONS = (
    *map(window_mean.whole, window_mean.KERNELS),
    *mean_rows.ROWS,
    mean_rows.SCALED_ROWS,
    window_mean.whole(window_mean.IN_FLOAT32),
    *(
        window_mean.whole(in_float32.without(one))
        for one in reduction.sum_kernels(_scale, divisor=_count)
    ),
    in_float32.only(reduction.MEAN_IN_FLOAT32),
)
