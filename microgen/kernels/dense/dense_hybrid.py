"""Kernels for nn.dense_hybrid."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.dense.dense import DenseHybridAttrs
from microgen.kernels import base, hybrid
from microgen.kernels.dense import dense
from microgen.kernels.work import Work

OP_NAME = "nn.dense_hybrid"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, DenseHybridAttrs)
    output = graph.types[node.outputs[0]]
    return (
        *dense.sizes(node, graph),
        ("asymmetric", int(attrs.asymmetric)),
        ("per_channel", int(hybrid.scale_count(node, graph) > 1)),
        *base.activation_fields(attrs.activation, output),
    )


def _row_bytes(node: Node, graph: Graph) -> int:
    return graph.types[node.inputs[1]].shape[1]


def _two_rows_bytes(node: Node, graph: Graph) -> int:
    return 2 * _row_bytes(node, graph)


def _work(node: Node, graph: Graph) -> Work:
    """Rows, the values that are quantized, products, those that fours leave over, and the products'
    sums."""
    units, depth = graph.types[node.inputs[1]].shape
    size = graph.types[node.outputs[0]].size
    return {
        "call": 1,
        "row": size // units,
        "row_value": size // units * depth,
        "four_filters": size // units * (units // 4),
        "output": size,
        "single": size // units * (units % 4),
        "mac": size * depth,
        "single_mac": size // units * (units % 4) * depth,
        "left": size * (depth % 4),
    }


_PLAIN = dataclasses.replace(hybrid.kernel("mg_dense_hybrid_f32", _params, _row_bytes), work=_work)
IMPLEMENTATIONS = (
    dataclasses.replace(
        _PLAIN, symbol="mg_dense_hybrid_f32_dsp", scratch=_two_rows_bytes, needs=base.DSP
    ),
    _PLAIN,
)
